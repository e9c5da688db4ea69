//! Words shared by several phenomena.

/// A first name with its pronoun.
pub(super) struct Person {
    pub(super) name: &'static str,
    pub(super) pronoun: &'static str,
}

const fn she(name: &'static str) -> Person {
    Person { name, pronoun: "she" }
}

const fn he(name: &'static str) -> Person {
    Person { name, pronoun: "he" }
}

const PEOPLE: [Person; 12] = [
    she("Anna"),
    he("David"),
    she("Laura"),
    he("Peter"),
    she("Maria"),
    he("Thomas"),
    she("Julia"),
    he("Simon"),
    she("Susan"),
    he("Robert"),
    she("Emily"),
    he("Daniel"),
];

/// Returns three different people, a different triple for each number below 120.
pub(super) fn people(i: usize) -> [&'static Person; 3] {
    // From 1 to 10, so the three are different.
    let step = 1 + i / PEOPLE.len() % 10;
    [i, i + step, i + step + 1].map(|place| &PEOPLE[place % PEOPLE.len()])
}

/// Returns the names of [`people`].
pub(super) fn names(i: usize) -> [&'static str; 3] {
    people(i).map(|person| person.name)
}

/// Verbs for what one person does to another. The past tense equals the participle.
pub(super) const DEEDS: [&str; 8] =
    ["thanked", "invited", "followed", "helped", "praised", "ignored", "visited", "blamed"];
