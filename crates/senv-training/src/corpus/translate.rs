//! Maps provisional ids to those of the vocabulary, and divides the sentences into blocks.
//!
//! A piece never grows, because tokens are only left out. So each piece is written back to its place.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{
    block::{Block, BlockWriter, DOCUMENT_END, Sums},
    pass::UNKNOWN,
    piece::Piece,
    sorted_runs::SortedRuns,
    storage::{ScratchFile, Storage},
};
use crate::{ranks, ranks::Reduce};
use senv_base::{Error, Result, threads::spawn_others};
use senv_model::{Vocabulary, words::VocabularyBuilder};

/// For each set of provisional ids, the final id of each, or [`UNKNOWN`] if the token is not in the vocabulary.
pub(super) enum Tables<'a> {
    /// The ids are already final.
    Final,
    Memory(Vec<Vec<u32>>),
    /// Built from the runs, one at a time.
    Disk(&'a SortedRuns),
}

/// How tokens are mapped to the vocabulary.
#[derive(Clone, Copy)]
pub(super) struct Words<'a> {
    pub(super) vocabulary: &'a Vocabulary,
    /// Whether out-of-vocabulary tokens keep their position.
    pub(super) keeps_unknown: bool,
}

impl Words<'_> {
    /// The id of a token in the corpus, unless it is left out.
    fn of(self, id: u32) -> Option<u32> {
        match (id, self.keeps_unknown) {
            (UNKNOWN, true) => Some(self.vocabulary.len() as u32),
            (UNKNOWN, false) => None,
            _ => Some(id),
        }
    }
}

/// Merges the vocabularies of the threads into one.
///
/// With several ranks, each has counted its part of the text; the vocabulary is that of all.
pub(super) fn merge(
    mut builders: Vec<VocabularyBuilder>,
    min_count: u64,
    max_vocabulary: Option<usize>,
    keep: &[String],
    ranks: Option<&dyn Reduce>,
) -> Result<(Vocabulary, Vec<Vec<u32>>)> {
    let mut all = if builders.is_empty() { VocabularyBuilder::default() } else { builders.remove(0) };
    let mut tables = Vec::with_capacity(builders.len() + 1);
    let mut table = ids(all.len())?;
    table.extend(0..all.len() as u32);
    tables.push(table);
    for builder in builders {
        let mut table = ids(builder.len())?;
        for (token, count) in builder.iter() {
            table.push(all.try_add_many(token, count)?);
        }
        tables.push(table);
    }
    if let Some(ranks) = ranks {
        let (of_all, table) = count_all(ranks, &all)?;
        all = of_all;
        tables.iter_mut().flatten().for_each(|id| *id = table[*id as usize]);
    }
    let keep: Vec<u32> = keep.iter().map(|token| all.add_many(token, 0)).collect();
    let vocabulary = all.finish_keeping(min_count, max_vocabulary, &keep, 0)?;
    let mut finals = ids(all.len())?;
    finals.extend(all.iter().map(|(token, _)| vocabulary.id(token).map_or(UNKNOWN, |id| id.0)));
    drop(all);
    for table in &mut tables {
        table.iter_mut().for_each(|id| *id = finals[*id as usize]);
    }
    Ok((vocabulary, tables))
}

/// The tokens of all ranks with their counts, and the ids of the tokens of `own` among them.
fn count_all(ranks: &dyn Reduce, own: &VocabularyBuilder) -> Result<(VocabularyBuilder, Vec<u32>)> {
    // Tokens contain no line ends.
    let text: String = own.iter().flat_map(|(token, _)| [token, "\n"]).collect();
    let counts: Vec<u8> = own.iter().flat_map(|(_, count)| count.to_le_bytes()).collect();
    let (texts, counts) = (ranks::gather(ranks, text.as_bytes())?, ranks::gather(ranks, &counts)?);
    let mut all = VocabularyBuilder::default();
    let mut table = ids(own.len())?;
    for (rank, (text, counts)) in texts.iter().zip(&counts).enumerate() {
        let bad = |_| Error::Rank { rank, reason: "its words are not UTF-8".into() };
        let counts = counts.as_chunks().0.iter().map(|count| u64::from_le_bytes(*count));
        for (token, count) in str::from_utf8(text).map_err(bad)?.lines().zip(counts) {
            let id = all.try_add_many(token, count)?;
            if rank == ranks.rank() {
                table.push(id);
            }
        }
    }
    Ok((all, table))
}

/// Reserves memory for `n` ids.
fn ids(n: usize) -> Result<Vec<u32>> {
    let mut ids = Vec::new();
    let refused = |_| Error::OutOfMemory { what: "a vocabulary", bytes: 4 * n as u64 };
    ids.try_reserve_exact(n).map_err(refused)?;
    Ok(ids)
}

/// A piece after translation.
struct Translated {
    piece: usize,
    blocks: Vec<Block>,
    sums: Sums,
}

/// Translates every piece; returns all blocks and the sums over the corpus.
pub(super) fn translate(
    pieces: &[Piece],
    tables: Tables<'_>,
    words: Words<'_>,
    storage: &mut Storage,
    n_threads: usize,
) -> Result<(Vec<Block>, Sums)> {
    let ends = document_ends(pieces);
    let mut done = Vec::with_capacity(pieces.len());
    let mut translate_some = |of: &[usize], tables: &[Vec<u32>]| {
        done.append(&mut match storage {
            Storage::Memory(stored) => translate_memory((pieces, of, &ends), tables, words, stored),
            Storage::File(file) => translate_file((pieces, of, &ends), tables, words, file, n_threads)?,
        });
        Result::Ok(())
    };
    let all: Vec<usize> = (0..pieces.len()).collect();
    match tables {
        Tables::Final => translate_some(&all, &[])?,
        Tables::Memory(tables) => translate_some(&all, &tables)?,
        Tables::Disk(runs) => {
            let mut tables = vec![Vec::new(); runs.n_sets()];
            let mut of_sets = vec![Vec::new(); runs.n_sets()];
            all.iter().for_each(|&i| of_sets[pieces[i].set].push(i));
            for (set, of) in of_sets.iter().enumerate() {
                tables[set] = runs.table(set, words.vocabulary, UNKNOWN)?;
                translate_some(of, &tables)?;
                tables[set] = Vec::new();
            }
        }
    }
    done.sort_unstable_by_key(|translated| translated.piece);

    let mut sums = Sums::default();
    let mut blocks = Vec::with_capacity(done.iter().map(|translated| translated.blocks.len()).sum());
    for translated in done {
        blocks.extend(translated.blocks.iter().map(|block| Block {
            start: pieces[translated.piece].start + block.start,
            first_sentence: sums.n_sentences + block.first_sentence,
            first_token: sums.n_tokens + block.first_token,
            ..*block
        }));
        sums.extend(&translated.sums);
    }
    Ok((blocks, sums))
}

/// All pieces, the selection to translate, and for each piece whether a document ends with it.
type Chosen<'a> = (&'a [Piece], &'a [usize], &'a [bool]);

fn translate_memory(
    (pieces, of, ends): Chosen<'_>,
    tables: &[Vec<u32>],
    words: Words<'_>,
    stored: &mut [u32],
) -> Vec<Translated> {
    let mut writer = BlockWriter::default();
    let mut done = Vec::with_capacity(of.len());
    for &i in of {
        let piece = &pieces[i];
        let from = piece.start as usize;
        let of_piece = &mut stored[from..from + piece.n_sentences + piece.n_ids];
        done.push(translate_piece(&mut writer, (i, piece, ends[i]), tables, words, of_piece));
        of_piece[..writer.words.len()].copy_from_slice(&writer.words);
    }
    done
}

fn translate_file(
    (pieces, of, ends): Chosen<'_>,
    tables: &[Vec<u32>],
    words: Words<'_>,
    file: &ScratchFile,
    n_threads: usize,
) -> Result<Vec<Translated>> {
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<Translated>> {
        let (mut writer, mut stored, mut done) = (BlockWriter::default(), Vec::new(), Vec::new());
        loop {
            let Some(&i) = of.get(next.fetch_add(1, Ordering::Relaxed)) else { return Ok(done) };
            let piece = &pieces[i];
            stored.resize(piece.n_sentences + piece.n_ids, 0);
            file.read(piece.start, &mut stored)?;
            done.push(translate_piece(&mut writer, (i, piece, ends[i]), tables, words, &stored));
            file.write(piece.start, &writer.words)?;
        }
    };
    let mut done = Vec::with_capacity(of.len());
    std::thread::scope(|scope| {
        let others = spawn_others(scope, n_threads.min(of.len()), |_| work);
        done.append(&mut work()?);
        for other in others {
            match other.join() {
                Ok(result) => done.append(&mut result?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(done)
    })
}

/// Writes the translated piece to the writer.
fn translate_piece(
    writer: &mut BlockWriter,
    (number, piece, ends_document): (usize, &Piece, bool),
    tables: &[Vec<u32>],
    words: Words<'_>,
    stored: &[u32],
) -> Translated {
    writer.clear();
    let (lengths, mut ids) = stored.split_at(piece.n_sentences);
    let table = tables.get(piece.set);
    for (i, &length) in lengths.iter().enumerate() {
        let (sentence, rest) = ids.split_at((length & !DOCUMENT_END) as usize);
        ids = rest;
        let last = length & DOCUMENT_END != 0 || (ends_document && i + 1 == lengths.len());
        match table {
            Some(table) => writer.push(sentence.iter().filter_map(|&id| words.of(table[id as usize])), last),
            None => writer.push(sentence.iter().filter_map(|&id| words.of(id)), last),
        }
    }
    writer.end_block();
    Translated { piece: number, blocks: std::mem::take(&mut writer.blocks), sums: writer.sums }
}

/// For each piece, whether its last sentence ends a document because of what follows the piece: a blank line, another
/// file, nothing.
fn document_ends(pieces: &[Piece]) -> Vec<bool> {
    let mut ends = vec![false; pieces.len()];
    let (mut broken, mut file, mut next) = (true, usize::MAX, 0);
    for (piece, end) in pieces.iter().zip(&mut ends).rev() {
        // The text between two pieces of a rank belongs to other ranks.
        *end = broken || piece.file != file || piece.number + 1 != next;
        next = piece.number;
        broken = piece.starts_document || (broken && piece.n_sentences == 0);
        file = piece.file;
    }
    ends
}
