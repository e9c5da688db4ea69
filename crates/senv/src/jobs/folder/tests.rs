use std::{cell::RefCell, sync::Barrier, time::Instant};

use super::*;

/// A folder with inputs, and a task that copies them in capitals and records what it did.
struct Desk {
    folder: tempfile::TempDir,
    done: RefCell<Vec<String>>,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            fs::write(folder.path().join(name), format!("text of {name}")).unwrap();
        }
        Self { folder, done: RefCell::default() }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn params() -> FolderParams {
        FolderParams { ending: "up".into(), model: "m".into(), ..FolderParams::default() }
    }

    fn open(&self, params: FolderParams) -> Result<FolderJob> {
        FolderJob::open(self.at("out"), &["a", "b", "c"].map(|name| self.at(name)), params)
    }

    fn work(&self, input: &Path, output: &Path) -> Result<u64> {
        let text = fs::read_to_string(input).unwrap();
        fs::write(output, text.to_uppercase()).unwrap();
        self.done.borrow_mut().push(input.file_name().unwrap().to_str().unwrap().to_owned());
        if text.contains("bad") { bad(input, "line 7: bad".into()) } else { Ok(1) }
    }

    fn run(&self, params: FolderParams) -> Result<(FolderOutcome<Error>, Vec<String>)> {
        let outcome = self.open(params)?.run(|input, output| self.work(input, output), |_| ())?;
        Ok((outcome, self.done.take()))
    }
}

#[test]
fn what_is_complete_is_passed_over_and_what_changed_is_made_again() {
    let desk = Desk::new();
    let (outcome, done) = desk.run(Desk::params()).unwrap();
    assert_eq!((outcome.finished, outcome.rows, done), (3, 3, vec!["a".into(), "b".into(), "c".into()]));
    assert_eq!(fs::read_to_string(desk.at("out/b.up")).unwrap(), "TEXT OF B");
    let (outcome, done) = desk.run(Desk::params()).unwrap();
    assert_eq!((outcome.complete, outcome.finished, done.len()), (3, 0, 0));
    // A changed input of the same length, a truncated output, a missing output, a damaged record.
    let again = |change: &dyn Fn()| {
        change();
        desk.run(Desk::params()).unwrap().1
    };
    let change = || {
        fs::write(desk.at("a"), "text of A").unwrap();
        // Some systems count in milliseconds.
        let later = std::time::SystemTime::now() + Duration::from_secs(1);
        fs::File::options().write(true).open(desk.at("a")).unwrap().set_modified(later).unwrap();
    };
    assert_eq!(again(&change), ["a"]);
    assert_eq!(again(&|| fs::write(desk.at("out/b.up"), "TEXT").unwrap()), ["b"]);
    assert_eq!(again(&|| fs::remove_file(desk.at("out/c.up")).unwrap()), ["c"]);
    assert_eq!(again(&|| fs::write(desk.at("out/_senv/files/c.up.json"), "{").unwrap()), ["c"]);
    // A file that was copied, or touched, is the same file.
    assert!(again(&|| fs::write(desk.at("b"), "text of b").unwrap()).is_empty());
    // Neither length nor time shows the change.
    let time = fs::metadata(desk.at("out/a.up")).unwrap().modified().unwrap();
    fs::write(desk.at("out/a.up"), "TEXT OF X").unwrap();
    fs::File::options().write(true).open(desk.at("out/a.up")).unwrap().set_modified(time).unwrap();
    assert!(desk.run(Desk::params()).unwrap().1.is_empty());
    assert_eq!(desk.run(FolderParams { check_hashes: true, ..Desk::params() }).unwrap().1, ["a"]);
    assert_eq!(fs::read_dir(desk.at("out/_senv/unfinished")).unwrap().count(), 0);
}

#[test]
fn another_model_or_other_settings_are_refused_until_all_is_made_again() {
    let desk = Desk::new();
    desk.run(Desk::params()).unwrap();
    let other = || FolderParams { model: "n".into(), ..Desk::params() };
    assert!(matches!(desk.run(other()), Err(Error::OtherSettings { .. })));
    let settings = [("digits".to_owned(), "3".to_owned())].into_iter().collect();
    let digits = FolderParams { settings, ..Desk::params() };
    let error = desk.run(digits).unwrap_err().to_string();
    assert!(error.contains("digits was not given, now 3"), "{error}");
    assert!(desk.run(Desk::params()).unwrap().1.is_empty(), "a refusal changes nothing");
    // Only two of the three are rebuilt, and the third is reported.
    let job = FolderJob::open(desk.at("out"), &[desk.at("a"), desk.at("b")], FolderParams { force: true, ..other() })
        .unwrap();
    assert_eq!(job.run(|input, output| desk.work(input, output), |_| ()).unwrap().finished, 2);
    assert_eq!(job.left_of_other_settings().unwrap(), ["c.up"]);
    drop(job);
    desk.done.take();
    assert_eq!(desk.run(other()).unwrap().1, ["c"]);
}

#[test]
fn a_file_that_fails_does_not_hold_up_the_others_and_leaves_nothing() {
    let desk = Desk::new();
    fs::write(desk.at("b"), "bad text").unwrap();
    let (outcome, done) = desk.run(Desk::params()).unwrap();
    assert_eq!((outcome.finished, outcome.failed.len(), done.len()), (2, 1, 3));
    assert!(outcome.failed[0].1.to_string().ends_with("b: line 7: bad"));
    assert!(!desk.at("out/b.up").exists());
    assert_eq!(fs::read_dir(desk.at("out/_senv/unfinished")).unwrap().count(), 0);
    fs::write(desk.at("b"), "good text").unwrap();
    assert_eq!(desk.run(Desk::params()).unwrap().1, ["b"]);
}

#[test]
fn inputs_of_one_name_foreign_files_and_a_second_process_are_refused() {
    let desk = Desk::new();
    fs::create_dir(desk.at("sub")).unwrap();
    fs::write(desk.at("sub/a"), "other").unwrap();
    let open = |inputs: &[&str]| {
        let inputs: Vec<PathBuf> = inputs.iter().map(|name| desk.at(name)).collect();
        FolderJob::open(desk.at("out"), &inputs, Desk::params()).map(|_| ()).map_err(|error| error.to_string())
    };
    assert!(open(&["a", "sub/a"]).unwrap_err().contains("rename one of them"));
    assert!(open(&["sub"]).unwrap_err().contains("not a file"));
    fs::write(desk.at("_a"), "").unwrap();
    assert!(open(&["_a"]).unwrap_err().contains("rename it"));
    fs::create_dir(desk.at("out")).unwrap();
    fs::write(desk.at("out/a.up"), "mine").unwrap();
    assert!(open(&["a"]).unwrap_err().contains("was not written by senv"));
    let (outcome, _) = desk.run(FolderParams { force: true, ..Desk::params() }).unwrap();
    assert_eq!(outcome.finished, 3);
    let job = desk.open(Desk::params()).unwrap();
    let error = desk.open(Desk::params()).unwrap_err();
    assert!(
        matches!(&error, Error::FolderInUse { holder: Some(holder), .. } if *holder == std::process::id()),
        "{error}"
    );
    let refused = |params| matches!(desk.open(params), Err(Error::FolderInUse { .. }));
    assert!(refused(claims(&desk, 300)));
    drop(job);
    let job = desk.open(claims(&desk, 300)).unwrap();
    assert!(refused(Desk::params()) && !refused(claims(&desk, 300)));
    drop(job);
    desk.open(Desk::params()).unwrap();
}

#[test]
fn an_output_in_the_place_of_an_input_is_refused_by_any_path_and_in_spite_of_force() {
    let desk = Desk::new();
    let params = FolderParams { force: true, ..Desk::params() };
    let refused = |input: &str, output: &str| {
        let error = FolderJob::open(desk.at(output), &[desk.at(input)], params.clone()).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("would overwrite an input file"), "{error}");
    };
    for folder in ["in", "links", "noted"] {
        fs::create_dir(desk.at(folder)).unwrap();
    }
    // An input that already has the extension of outputs keeps its name.
    fs::write(desk.at("in/a.up"), "text of a").unwrap();
    refused("in/a.up", "in");
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink(desk.at("in"), desk.at("link")).unwrap();
        refused("in/a.up", "link");
        symlink(desk.at("in/a.up"), desk.at("links/a.up")).unwrap();
        refused("links/a.up", "in");
    }
    assert_eq!(fs::read_to_string(desk.at("in/a.up")).unwrap(), "text of a");
    assert!(!desk.at("in/_senv").exists());
    // Nor if an output of that name was made before.
    FolderJob::open(desk.at("noted"), &[desk.at("in/a.up")], Desk::params())
        .unwrap()
        .run(|input, output| desk.work(input, output), |_| ())
        .unwrap();
    refused("noted/a.up", "noted");
}

fn claims(desk: &Desk, timeout: u64) -> FolderParams {
    let timeout = Duration::from_millis(timeout);
    FolderParams { claims: Some(ClaimParams { timeout, ..ClaimParams::new(desk.at("claims")) }), ..Desk::params() }
}

#[test]
fn workers_share_the_files() {
    let desk = Desk::new();
    let names: Vec<PathBuf> = (0..40)
        .map(|i| {
            let path = desk.at(&format!("in{i}"));
            fs::write(&path, format!("text {i}")).unwrap();
            path
        })
        .collect();
    let all_are_at_work = Barrier::new(4);
    let worker = || {
        let job = FolderJob::open(desk.folder.path().join("out"), &names, claims_of(desk.folder.path())).unwrap();
        let mut is_first = true;
        let work = |input: &Path, output: &Path| {
            if std::mem::take(&mut is_first) {
                all_are_at_work.wait();
            }
            fs::copy(input, output).map_err(|e| senv_core::Error::io("copy", input, e))?;
            Ok::<u64, Error>(1)
        };
        job.run(work, |_| ()).unwrap()
    };
    let (desk, names) = (&desk, &names);
    let outcomes: Vec<FolderOutcome<Error>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    assert_eq!(outcomes.iter().map(|outcome| outcome.finished).sum::<usize>(), 40);
    assert!(outcomes.iter().all(|outcome| outcome.finished + outcome.complete == 40));
    for (i, _) in names.iter().enumerate() {
        assert_eq!(fs::read_to_string(desk.at(&format!("out/in{i}.up"))).unwrap(), format!("text {i}"));
    }
    assert_eq!(fs::read_dir(desk.at("claims")).unwrap().count(), 0);
}

fn claims_of(folder: &Path) -> FolderParams {
    // Long enough that no worker counts as dead on a busy machine.
    let timeout = Duration::from_secs(3600);
    FolderParams { claims: Some(ClaimParams { timeout, ..ClaimParams::new(folder.join("claims")) }), ..Desk::params() }
}

#[test]
fn who_was_slow_discards_its_work_and_the_one_who_took_over_has_its_own_in_place() {
    let desk = Desk::new();
    // A claim without heartbeats, as of a process that was stopped.
    fs::create_dir(desk.at("claims")).unwrap();
    fs::write(desk.at("claims/b.up~1"), "gone\n00000000000000000007\n").unwrap();
    // And a claim of a process that was killed after all work was done.
    let params = FolderParams { claims: None, ..claims(&desk, 300) };
    let work = |input: &Path, output: &Path| desk.work(input, output);
    FolderJob::open(desk.at("out"), &[desk.at("a")], params).unwrap().run(work, |_| ()).unwrap();
    fs::write(desk.at("claims/a.up~1"), "gone\n00000000000000000009\n").unwrap();
    fs::create_dir(desk.at("out/_senv/unfinished/a.up~gone")).unwrap();
    let events = RefCell::new(Vec::new());
    let started = Instant::now();
    let outcome = desk.open(claims(&desk, 300)).unwrap().run(
        |input, output| {
            // Another worker takes over the claim of c while this one is working on it.
            if input.ends_with("c")
                && !desk.at("claims/c.up~2").exists()
                && desk.done.borrow().iter().all(|name| name != "c")
            {
                fs::write(desk.at("claims/c.up~2"), "other\n00000000000000000001\n").unwrap();
            }
            desk.work(input, output)
        },
        |event| match event {
            FolderEvent::TakenOver(path, from) => {
                events.borrow_mut().push(format!("{} from {from}", path.file_name().unwrap().display()));
            }
            FolderEvent::Lost(path) => {
                assert!(!desk.at("out/c.up").exists());
                events.borrow_mut().push(format!("lost {}", path.file_name().unwrap().display()));
            }
            _ => {}
        },
    );
    let outcome = outcome.unwrap();
    assert_eq!((outcome.finished, outcome.complete, outcome.failed.len()), (2, 1, 0));
    let mut events = events.into_inner();
    events.sort();
    assert_eq!(events, ["b from gone", "c from other", "lost c"]);
    assert!(started.elapsed() >= Duration::from_millis(300));
    assert_eq!(fs::read_to_string(desk.at("out/c.up")).unwrap(), "TEXT OF C");
    assert_eq!(fs::read_dir(desk.at("claims")).unwrap().count(), 0);
    assert_eq!(fs::read_dir(desk.at("out/_senv/unfinished")).unwrap().count(), 0);
}
