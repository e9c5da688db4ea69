//! English words that say whether a full stop ends a sentence. All lists are sorted, in lower case and without the
//! final full stop.

/// Titles and first parts of names. The sentence continues. They begin with a capital, except in [`ANY_CASE`].
#[rustfmt::skip]
pub(super) const TITLES: &[&str] = &[
    "adj", "adm", "amb", "asst", "atty", "bp", "brig", "bro", "capt", "card", "cdr", "cmdr", "col", "comdr", "cpl",
    "cpt", "det", "dr", "drs", "ens", "fr", "ft", "gen", "gov", "hon", "insp", "lieut", "lt", "maj", "messrs", "mgr",
    "mlle", "mlles", "mm", "mme", "mmes", "mr", "mrs", "ms", "msgr", "mssrs", "mt", "mx", "ofc", "pfc", "pres",
    "prof", "profs", "pt", "pte", "pvt", "rep", "reps", "rev", "rr", "rt", "sen", "sens", "sgt", "spc", "sra", "srta",
    "ste", "supt", "treas",
];
/// Titles that continue in lower case, too.
#[rustfmt::skip]
pub(super) const ANY_CASE: &[&str] = &[
    "dr", "messrs", "mme", "mr", "mrs", "ms", "prof",
];
/// Words that never end a sentence.
#[rustfmt::skip]
pub(super) const NEVER_LAST: &[&str] = &[
    "abbr", "approx", "c.f", "ca", "cf", "deg", "e.g", "eg", "esp", "excl", "i.e", "ie", "incl", "orig", "resp", "v",
    "viz", "vs",
];
/// Words after which the sentence continues if a number follows.
#[rustfmt::skip]
pub(super) const BEFORE_NUMBERS: &[&str] = &[
    "a.d", "app", "approx", "apr", "apt", "art", "arts", "aug", "b", "bk", "bks", "bldg", "c", "ca", "ch", "chap",
    "chaps", "chs", "cl", "d", "dec", "def", "ed", "eq", "eqn", "eqns", "eqs", "est", "ex", "exs", "ext", "feb",
    "fig", "figs", "fl", "flt", "fol", "fols", "fri", "hwy", "illus", "jan", "jul", "jun", "l", "ll", "mar", "max",
    "min", "mon", "n", "nn", "no", "nos", "nov", "nr", "nrs", "oct", "p", "par", "para", "pars", "pg", "pgs", "pl",
    "pls", "pos", "pp", "ppg", "prop", "pt", "pts", "q", "r", "ref", "refs", "reg", "rm", "rte", "sat", "sec", "secs",
    "sect", "sects", "sep", "sept", "ser", "sp", "ste", "sun", "tab", "tel", "thm", "thu", "thur", "thurs", "tue",
    "tues", "ver", "vers", "vol", "vols", "wed",
];
/// Words of [`BEFORE_NUMBERS`] that are words of their own in lower case, or after a sentence began with them.
#[rustfmt::skip]
pub(super) const CAPITAL_BEFORE_NUMBERS: &[&str] = &[
    "apr", "art", "arts", "aug", "dec", "feb", "fri", "jan", "jul", "jun", "mar", "mon", "nov", "oct", "pos", "reg",
    "sat", "sep", "sept", "sun", "tab", "thu", "thur", "thurs", "tue", "tues", "wed",
];
/// Words of [`BEFORE_NUMBERS`] that a Roman number or a letter may follow.
#[rustfmt::skip]
pub(super) const BEFORE_LETTERS: &[&str] = &[
    "app", "bk", "bks", "ch", "chap", "chaps", "chs", "eq", "eqs", "ex", "fig", "figs", "pl", "pp", "pt", "pts",
    "sec", "secs", "sect", "tab", "vol", "vols",
];
/// Words that may end a sentence. It continues unless a word that begins sentences follows.
#[rustfmt::skip]
pub(super) const EITHER: &[&str] = &[
    "a.d", "al", "apt", "assn", "assoc", "ave", "b.c", "b.c.e", "bldg", "blvd", "bros", "c.e", "cie", "co", "corp",
    "cos", "ctr", "dept", "depts", "dist", "div", "ed", "eds", "esq", "est", "et seq", "ex", "ff", "govt", "hosp",
    "hwy", "inc", "inst", "intl", "jr", "ltd", "mfg", "natl", "op", "p.l.c", "pkwy", "plc", "pty", "rd", "s.p.a",
    "sq", "sr", "st", "ste", "trans", "univ",
];
/// Words of [`EITHER`] that are words of their own in lower case.
#[rustfmt::skip]
pub(super) const CAPITAL_EITHER: &[&str] =
    &[
    "assn", "ave", "div", "ed", "est", "ex", "inst", "op", "rd", "sq", "st", "ste", "trans",
];
/// Months and days, which follow a time of day.
#[rustfmt::skip]
pub(super) const DATES: &[&str] = &[
    "apr", "april", "aug", "august", "dec", "december", "feb", "february", "fri", "friday", "jan", "january", "jul",
    "july", "jun", "june", "mar", "march", "may", "mon", "monday", "nov", "november", "oct", "october", "sat",
    "saturday", "sep", "sept", "september", "sun", "sunday", "thu", "thur", "thurs", "thursday", "tue", "tues",
    "tuesday", "wed", "wednesday",
];
/// Time zones, which follow a time of day.
#[rustfmt::skip]
pub(super) const ZONES: &[&str] = &[
    "bst", "cdt", "central", "cest", "cet", "cst", "ct", "eastern", "edt", "est", "et", "gmt", "hst", "ist", "jst",
    "mdt", "mountain", "mst", "mt", "pacific", "pdt", "pst", "pt", "utc", "zulu",
];
/// States after a comma ("Boston, Mass.").
#[rustfmt::skip]
pub(super) const STATES: &[&str] = &[
    "ala", "ariz", "ark", "cal", "calif", "colo", "conn", "del", "fla", "ga", "ia", "id", "ill", "ind", "kan", "kans",
    "ky", "la", "mass", "md", "me", "mich", "minn", "miss", "mo", "mont", "neb", "nebr", "nev", "okla", "ont", "ore",
    "pa", "penn", "penna", "que", "tenn", "tex", "va", "vt", "wash", "wis", "wyo",
];
/// Units after a number. The sentence continues if a number with another unit follows.
#[rustfmt::skip]
pub(super) const UNITS: &[&str] = &[
    "cm", "ft", "gal", "hr", "hrs", "in", "kg", "km", "lb", "lbs", "mi", "min", "mins", "mm", "mo", "mos", "oz", "pt",
    "qt", "sec", "secs", "sq", "tbsp", "tsp", "wk", "wks", "yd", "yds", "yr", "yrs",
];
/// Nouns before a single letter or number that names one of a kind ("size S", "vitamin C", "Chapter 2").
#[rustfmt::skip]
pub(super) const KINDS: &[&str] = &[
    "act", "allele", "angle", "annex", "antigen", "appendix", "area", "article", "axiom", "bank", "bay", "block",
    "book", "box", "building", "bus", "cabin", "camp", "candidate", "canto", "case", "category", "cell", "chapter",
    "chart", "choice", "chord", "circle", "class", "clause", "cluster", "column", "company", "compartment", "condition",
    "corollary", "curve", "day", "deck", "definition", "diagram", "disk", "district", "division", "dock", "door",
    "drive", "entry", "enzyme", "episode", "equation", "example", "exercise", "exhibit", "exit", "experiment", "fact",
    "factor", "figure", "file", "flat", "form", "gate", "goal", "grade", "group", "hall", "hepatitis", "highway",
    "hypothesis", "influenza", "item", "key", "lane", "law", "lemma", "lesson", "letter", "level", "line", "list",
    "lot", "map", "matrix", "method", "mode", "model", "module", "node", "note", "number", "objective", "operation",
    "option", "page", "panel", "paragraph", "part", "person", "phase", "pin", "plan", "planet", "plate", "platform",
    "player", "point", "port", "position", "principle", "problem", "process", "product", "project", "proposition",
    "protein", "quadrant", "question", "receptor", "region", "room", "route", "row", "rule", "sample", "scenario",
    "scene", "schedule", "scheme", "screen", "season", "section", "sector", "segment", "series", "set", "shape",
    "sheet", "shelf", "side", "site", "size", "slide", "solution", "stage", "station", "step", "strain", "street",
    "subject", "subtype", "suite", "table", "task", "team", "terminal", "test", "theorem", "thread", "tier", "tip",
    "title", "topic", "tower", "track", "train", "triangle", "type", "unit", "variable", "variant", "vector", "version",
    "vertex", "vitamin", "volume", "war", "ward", "week", "wing", "zone",
];
/// Words of [`KINDS`] that name no part of a text.
#[rustfmt::skip]
pub(super) const NO_HEADINGS: &[&str] = &[
    "antigen", "bus", "factor", "gate", "grade", "group", "hepatitis", "influenza", "person", "plan", "planet",
    "platform", "player", "protein", "size", "strain", "team", "train", "vitamin", "war",
];
/// Verbs of speech, which follow a quotation that ends with a mark.
#[rustfmt::skip]
pub(super) const SPEECH: &[&str] = &[
    "added", "adds", "admitted", "agreed", "announced", "answered", "answers", "asked", "asks", "barked", "begged",
    "bellowed", "blurted", "boomed", "breathed", "chimed", "complained", "continued", "cried", "cries", "declared",
    "demanded", "echoed", "exclaimed", "gasped", "groaned", "growled", "grumbled", "grunted", "hissed", "howled",
    "inquired", "insisted", "interjected", "interrupted", "joked", "moaned", "mumbled", "murmured", "muttered",
    "objected", "persisted", "pleaded", "protested", "queried", "questioned", "quipped", "rejoined", "remarked",
    "repeated", "replied", "replies", "responded", "retorted", "roared", "said", "says", "scoffed", "screamed",
    "screeched", "shouted", "shouts", "shrieked", "snapped", "snarled", "sobbed", "stammered", "stuttered",
    "suggested", "thought", "urged", "ventured", "volunteered", "wailed", "whined", "whispered", "wondered", "yelled",
    "yells",
];
/// Words that begin sentences and are no names.
#[rustfmt::skip]
pub(super) const BEGINNINGS: &[&str] = &[
    "a", "about", "above", "according", "across", "actually", "after", "again", "against", "all", "almost", "along",
    "already", "also", "although", "am", "among", "an", "and", "another", "any", "anyone", "anything", "apparently",
    "are", "around", "as", "at", "be", "because", "before", "behind", "being", "below", "besides", "between",
    "beyond", "both", "but", "by", "can", "certainly", "clearly", "could", "despite", "did", "do", "does", "don",
    "due", "during", "each", "earlier", "early", "either", "else", "even", "eventually", "ever", "every", "everybody",
    "everyone", "everything", "few", "finally", "first", "firstly", "following", "for", "fortunately", "from",
    "further", "furthermore", "generally", "get", "given", "go", "had", "has", "have", "having", "he", "hence", "her",
    "here", "hers", "herself", "him", "himself", "his", "how", "however", "i", "if", "in", "indeed", "inside",
    "instead", "into", "is", "it", "its", "itself", "just", "last", "later", "least", "less", "let", "like",
    "likewise", "look", "many", "maybe", "meanwhile", "might", "more", "moreover", "most", "much", "must", "my",
    "myself", "namely", "near", "nearly", "neither", "never", "nevertheless", "next", "no", "nobody", "none",
    "nonetheless", "nor", "not", "nothing", "notice", "now", "nowadays", "of", "off", "often", "oh", "on", "once",
    "one", "only", "onto", "or", "originally", "other", "others", "otherwise", "our", "ours", "out", "outside",
    "over", "overall", "perhaps", "please", "possibly", "previously", "probably", "put", "quite", "rather",
    "recently", "second", "secondly", "see", "several", "shall", "she", "should", "similarly", "since", "so", "some",
    "somebody", "someone", "something", "sometimes", "soon", "still", "such", "suddenly", "surely", "take", "than",
    "that", "the", "their", "theirs", "them", "then", "there", "thereafter", "therefore", "these", "they", "third",
    "this", "those", "though", "three", "through", "throughout", "thus", "to", "today", "together", "tomorrow", "too",
    "toward", "towards", "two", "typically", "under", "unfortunately", "unless", "unlike", "until", "up", "upon",
    "us", "usually", "very", "was", "we", "well", "were", "what", "whatever", "when", "whenever", "where", "whereas",
    "wherever", "whether", "which", "while", "who", "whoever", "whom", "whose", "why", "will", "with", "within",
    "without", "would", "yeah", "yes", "yesterday", "yet", "you", "your", "yours",
];

/// Whether a sorted list has a word.
pub(super) fn is_in(list: &[&str], word: &str) -> bool {
    list.binary_search(&word).is_ok()
}

/// A word in lower case, without memory of its own. Words that are longer than any of the lists, or not of ASCII, are
/// empty.
pub(super) struct Lower {
    bytes: [u8; Self::LONGEST],
    length: usize,
}

impl Lower {
    const LONGEST: usize = 16;

    pub(super) fn new(word: &str) -> Self {
        let mut bytes = [0; Self::LONGEST];
        let length = if word.len() <= Self::LONGEST && word.is_ascii() { word.len() } else { 0 };
        bytes[..length].copy_from_slice(&word.as_bytes()[..length]);
        bytes.make_ascii_lowercase();
        Self { bytes, length }
    }

    pub(super) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }

    pub(super) fn is_in(&self, list: &[&str]) -> bool {
        let bytes = &self.bytes[..self.length];
        !bytes.is_empty() && list.binary_search_by(|word| word.as_bytes().cmp(bytes)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_words_are_sorted() {
        for words in [
            TITLES,
            ANY_CASE,
            NEVER_LAST,
            BEFORE_NUMBERS,
            CAPITAL_BEFORE_NUMBERS,
            BEFORE_LETTERS,
            EITHER,
            CAPITAL_EITHER,
            DATES,
            ZONES,
            STATES,
            UNITS,
            KINDS,
            NO_HEADINGS,
            SPEECH,
            BEGINNINGS,
        ] {
            assert!(words.is_sorted_by(|a, b| a < b), "{words:?}");
            assert!(words.iter().all(|word| word.len() <= Lower::LONGEST));
        }
    }
}
