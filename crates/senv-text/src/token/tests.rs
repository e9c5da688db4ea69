use proptest::prelude::*;

use super::{
    classes::{is_space, is_word},
    *,
};

fn words(text: &str) -> String {
    Tokenizer::words().tokens(text).join(" ")
}

#[test]
fn the_table_of_the_documentation_holds() {
    for (text, tokens) in [
        ("(don't, it's, we'll)", "( do n't , it 's , we 'll )"),
        ("cannot", "can not"),
        ("well-known AT&T O'Brien", "well-known AT&T O'Brien"),
        ("Mr. Hall, U.S., e.g. 3 p.m.", "Mr. Hall , U.S. , e.g. 3 p.m."),
        ("1,234.5 12:30 1/2 -5 'n .5", "1,234.5 12:30 1/2 -5 'n .5"),
        ("50% $3 and/or", "50 % $ 3 and / or"),
        ("great.The end...", "great . The end ..."),
        ("see https://a.org/b_(c), x@y.org", "see https://a.org/b_(c) , x@y.org"),
        ("@name #tag :-) <unk> -LRB-", "@name #tag :-) <unk> -LRB-"),
        ("“No”—1914–18…", "“ No ” — 1914 – 18 …"),
    ] {
        assert_eq!(words(text), tokens);
    }
}

#[test]
fn clitics_are_split_from_english_words_and_from_nothing_else() {
    for (text, tokens) in [
        (
            "I'm you're he'd they've she'll can't won't ain't",
            "I 'm you 're he 'd they 've she 'll ca n't wo n't ai n't",
        ),
        ("DON'T It'S couldn't've", "DO N'T It 'S could n't 've"),
        ("don’t it’s O’Neill", "do n’t it ’s O’Neill"),
        ("n't 's 'S ’ll", "n't 's 'S ’ll"),
        ("U.S.'s 1990's cats' rock'n'roll", "U.S. 's 1990 's cats ' rock'n'roll"),
        ("'tis 'em '90s '90 ’twas", "'tis 'em '90s '90 ’twas"),
        ("'hello' 'a.b' 'it's'", "' hello ' ' a.b ' ' it 's '"),
        ("x's's's's's's", "x's's's's's's"),
        ("cannot. Cannot's", "can not . Can not 's"),
        ("jack-o'-lantern", "jack-o ' - lantern"),
    ] {
        assert_eq!(words(text), tokens);
    }
}

#[test]
fn punctuation_is_split_and_what_belongs_together_is_kept() {
    for (text, tokens) in [
        ("\"Stop!\" (he said); why?", "\" Stop ! \" ( he said ) ; why ?"),
        ("``PTB'' quotes -- dashes --- wait.. etc.", "`` PTB '' quotes -- dashes --- wait .. etc."),
        ("word--word well-known pre- -ly", "word -- word well-known pre - - ly"),
        ("he and I. J. Smith J.Smith vol.5 no.5", "he and I . J. Smith J. Smith vol. 5 no . 5"),
        ("snake_case _so_ __init__", "snake_case _ so _ __ init __"),
        ("node.js en.wiki.org's a.com, wait..b.com", "node.js en.wiki.org 's a.com , wait .. b.com"),
        ("<b>x</b> 1 < 2 <3 a<b", "<b> x </b> 1 < 2 <3 a < b"),
        ("great:) :-( ;-)) :D :P a:d 10:30pm (see: x)", "great :) :-( ;-)) :D :P a : d 10:30pm ( see : x )"),
        ("@-@ @,@ @.@ @ # ## ###a #1", "@-@ @,@ @.@ @ # ## ### a #1"),
        ("(-5) 3-5 x-5 +49 -.5 5- -x -5x", "( -5 ) 3-5 x-5 +49 -.5 5 - - x - 5x"),
        ("5°C €3 ½ x² naïve", "5 ° C € 3 ½ x² naïve"),
        ("a\u{A0}b\u{200B}c\u{FEFF}d e\u{3000}f", "a b c d e f"),
        ("👍🏽👍 🇩🇪🇫🇷 👩‍🚀 ❤️x", "👍🏽 👍 🇩🇪 🇫🇷 👩‍🚀 ❤️ x"),
        ("你好，世界。 e\u{301}te\u{301}", "你好 ， 世界 。 e\u{301}te\u{301}"),
        ("nul\0inside tab\there \r\n", "nul inside tab here"),
        ("", ""),
        (" \t\u{A0} ", ""),
    ] {
        assert_eq!(words(text), tokens);
    }
}

#[test]
fn words_of_any_script_are_found() {
    for (text, tokens) in [
        ("我爱北京，2024年！", "我 爱 北 京 ， 2024 年 ！"),
        ("東京タワーに行く。ｶﾞｰﾄﾞ々", "東 京 タワー に 行 く 。 ｶﾞｰﾄﾞ 々"),
        ("らーめん・ラーメン「Tシャツ」", "ら ー め ん ・ ラーメン 「 T シャツ 」"),
        ("葛\u{E0100}飾 か\u{3099}", "葛\u{E0100} 飾 か\u{3099}"),
        ("ประเทศไทย น้ำ แม่น้ำ เกาะ", "ป ระ เท ศ ไท ย น้ำ แม่ น้ำ เกาะ"),
        ("\u{E44}", "\u{E44}"),
        ("ແມ່ນ້ຳ ສະບາຍດີ", "ແມ່ ນ້ຳ ສະ ບາ ຍ ດີ"),
        ("ខ្មែរ", "ខ្មែ រ"),
        ("မြန်မာနိုင်ငံ ကုမ္ပဏီ", "မြန် မာ နိုင် ငံ ကု မ္ပ ဏီ"),
        ("한국어를 배워요. Кошка, γάτα; שלום!", "한국어를 배워요 . Кошка , γάτα ; שלום !"),
        ("हिन्दी में। አማርኛ፡ቋንቋ", "हिन्दी में । አማርኛ ፡ ቋንቋ"),
        ("Don't well-known a.b U.S. 3.14 1,234 5% (x) C++", "Don't well - known a.b U.S . 3.14 1,234 5 % ( x ) C ++"),
        ("wait... -- ?? ===> a_b _ `` 'n' \"q\" a–b…", "wait ... -- ? ? === > a_b _ ` ` ' n ' \" q \" a – b …"),
        ("a\u{A0}b\u{200B}c\u{2028}d\u{FEFF}e\u{3000}f", "a b c d e f"),
        ("👍🏽👍 🇩🇪🇫🇷 👩‍🚀 ❤️x", "👍🏽 👍 🇩🇪 🇫🇷 👩‍🚀 ❤️ x"),
        ("nul\0inside tab\there \r\n", "nul inside tab here"),
        ("", ""),
        (" \t\u{A0} ", ""),
    ] {
        assert_eq!(Tokenizer::unicode().tokens(text).join(" "), tokens, "{text}");
    }
    assert_eq!(Tokenizer::unicode().lowercase(true).tokens("ＡＢＣ İ Ärger"), ["ａｂｃ", "i\u{307}", "ärger"]);
}

#[test]
fn blank_cuts_at_ascii_white_space_alone() {
    let tokens = Tokenizer::whitespace().tokens("\0 don't\tstop\u{A0}now\r\n\x0bx\x0c, ");
    assert_eq!(tokens, ["don't", "stop\u{A0}now", "x", ","]);
    for text in ["", " ", "\0\0\n"] {
        assert!(Tokenizer::whitespace().tokens(text).is_empty());
    }
}

#[test]
fn lower_case_is_that_of_unicode() {
    let lower = Tokenizer::whitespace().lowercase(true);
    let text = "The ÄRGER Straße ΟΔΟΣ ΣΑΣ Σ İ ǅ plain";
    assert_eq!(lower.tokens(text), text.to_lowercase().split(' ').collect::<Vec<_>>());
    assert_eq!(Tokenizer::words().lowercase(true).tokens("Don't SHOUT, É."), ["do", "n't", "shout", ",", "é."]);
}

#[test]
fn hashtags_are_words_where_that_is_asked_for() {
    for (tokenizer, text, plain, stripped) in [
        (Tokenizer::words(), "#Rain, ##snow #1 # ##", "#Rain|,|##|snow|#1|#|##", "Rain|,|##|snow|1|#|##"),
        (Tokenizer::whitespace(), "#Rain, ##snow a#b # ##", "#Rain,|##snow|a#b|#|##", "Rain,|snow|a#b|#|##"),
        (Tokenizer::words().lowercase(true), "#Été #Ärger", "#été|#ärger", "été|ärger"),
    ] {
        assert_eq!(tokenizer.tokens(text).join("|"), plain);
        let strips = tokenizer.strip_hashtags(true);
        let tokens = strips.tokens(text);
        assert_eq!(tokens.join("|"), stripped);
        assert_eq!(strips.tokens(&tokens.join(" ")), tokens, "tokenizing again changes nothing");
    }
}

#[test]
fn a_choice_is_stored_by_its_name() {
    let tokenizer = Tokenizer::words().lowercase(true);
    let former = r#"{"rule":"blank","lowercase":false}"#;
    assert_eq!(serde_json::from_str::<Tokenizer>(former).unwrap(), Tokenizer::whitespace(), "files from before");
    let strips = serde_json::to_value(tokenizer.clone().strip_hashtags(true)).unwrap();
    assert_eq!(strips, serde_json::json!({ "rule": "words", "lowercase": true, "strip_hashtags": true }));
    assert!(serde_json::from_value::<Tokenizer>(strips).unwrap().strips_hashtags());
    assert_eq!((tokenizer.name(), tokenizer.is_lowercase()), ("words", true));
    assert_eq!((Tokenizer::whitespace().name(), Tokenizer::whitespace().is_lowercase()), ("whitespace", false));
    for (tokenizer, rule) in
        [(Tokenizer::whitespace(), "whitespace"), (Tokenizer::words(), "words"), (Tokenizer::unicode(), "unicode")]
    {
        assert_eq!(tokenizer.name(), rule);
        let json = serde_json::to_value(&tokenizer).unwrap();
        assert_eq!(json, serde_json::json!({ "rule": rule, "lowercase": false }));
        assert_eq!(serde_json::from_value::<Tokenizer>(json).unwrap(), tokenizer);
    }
}

#[test]
fn time_is_linear_in_texts_without_blanks() {
    for unit in [
        "a",
        "a+",
        "'s",
        "a.",
        "ab.",
        "(",
        "http://",
        ":",
        "<b",
        "'",
        "\u{200D}",
        "👍\u{200D}",
        "a@",
        "-",
        "a&",
        "1,",
        "’",
        "我",
        "เ",
        "ะ",
        "\u{1039}က",
        "🇩",
        "a'\u{301}",
        ".",
        "ー",
    ] {
        let text = unit.repeat(1_000_000 / unit.len());
        for tokenizer in [Tokenizer::words(), Tokenizer::unicode()] {
            let mut bytes = 0;
            tokenizer.for_each(&text, &mut String::new(), |token| bytes += token.len());
            assert_eq!(bytes, text.len(), "{unit}");
        }
    }
}

/// Every character is a token, part of a token, or white space, and so are its upper- and lower-case forms.
#[test]
fn every_character_is_of_one_class() {
    for c in (0..=0x0010_FFFF).filter_map(char::from_u32) {
        for tokenizer in [Tokenizer::words(), Tokenizer::unicode()] {
            let tokens = tokenizer.tokens(c.encode_utf8(&mut [0; 4]));
            assert_eq!(tokens.len(), usize::from(!is_space(c)), "{c:?}");
        }
        assert!(!(is_space(c) && is_word(c)), "{c:?}");
        assert!(!c.is_alphanumeric() || is_word(c), "{c:?}");
        assert_eq!(c.to_lowercase().all(is_word), is_word(c), "{c:?}");
    }
}

/// Text that combines the rules.
fn tangled() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => "[a-zA-Z]{1,4}",
        1 => "[0-9]{1,3}",
        3 => "[-'’._@#:;/&,()<>=+*!?%$\"`…“”–—]{1,2}",
        2 => prop::sample::select(vec![
            " ", "n't", "'s", "'ll", "http://", "www.", ".com", "a.b.", "e.g.", "Mr.", "cannot", ":-)", ":D", "<3", "<unk>",
            "-LRB-", "@-@", "''", "...", "\u{A0}", "\0", "é", "İ", "K", "Σ", "\u{301}", "\u{FE0F}", "\u{200D}", "👍", "🏽", "🇩",
            "·", "\u{2011}", "。", "ー", "タ", "か", "เ", "แม่", "ะ", "ก", "က", "\u{103A}", "\u{1039}", "\u{17D2}", "ក",
            "한", "।", "々", "_", "½", "你", "’s", "'90s", "'em", "ph.d", "x@y.org", "I.", "J.",
        ])
        .prop_map(String::from),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

#[test]
fn mouths_of_mixed_case_are_emoticons() {
    for (text, token) in [(":Dd", ":dd"), (":oO", ":oo"), (";PPp", ";ppp")] {
        assert_eq!(Tokenizer::words().tokens(text), [text]);
        assert_eq!(Tokenizer::words().lowercase(true).tokens(text), [token]);
    }
}

#[test]
fn what_is_a_domain_by_itself_keeps_no_dot() {
    for (text, tokens) in [("a.b.Eu.a", ["a.b.Eu", ".", "a"]), ("U.S.A. won", ["U.S.A.", "won", ""])] {
        let expected: Vec<&str> = tokens.into_iter().filter(|token| !token.is_empty()).collect();
        assert_eq!(Tokenizer::words().tokens(text), expected);
        assert_eq!(Tokenizer::words().tokens(&expected.join(" ")), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_and_cutting_twice_is_cutting_once(text in tangled(), lowercase: bool) {
        for tokenizer in [Tokenizer::words(), Tokenizer::whitespace(), Tokenizer::unicode()].map(|tokenizer| tokenizer.lowercase(lowercase)) {
            let tokens = tokenizer.tokens(&text);
            prop_assert!(tokens.iter().all(|token| !token.is_empty()));
            prop_assert_eq!(&tokenizer.tokens(&tokens.join(" ")), &tokens);
            if !lowercase {
                let space = |c: char| if tokenizer.name() == "whitespace" { c.is_ascii() && is_blank(c as u8) } else { is_space(c) };
                let kept: String = text.chars().filter(|&c| !space(c)).collect();
                prop_assert_eq!(tokens.concat(), kept);
            }
        }
    }

    #[test]
    fn lower_casing_first_or_last_is_the_same(text in tangled()) {
        let text: String = text.chars().filter(char::is_ascii).collect();
        let last: Vec<String> = Tokenizer::words().tokens(&text).iter().map(|token| token.to_lowercase()).collect();
        prop_assert_eq!(Tokenizer::words().lowercase(true).tokens(&text), last);
    }

    #[test]
    fn lower_casing_first_or_last_is_the_same_in_any_script(text in tangled()) {
        // Whether a sigma is final depends on the whole text.
        let text = text.replace('Σ', "");
        let last: Vec<String> = Tokenizer::unicode().tokens(&text).iter().map(|token| token.to_lowercase()).collect();
        prop_assert_eq!(Tokenizer::unicode().lowercase(true).tokens(&text), last);
    }

    #[test]
    fn a_token_with_a_letter_neither_begins_nor_ends_with_a_mark(text in tangled()) {
        for token in Tokenizer::unicode().tokens(&text) {
            let has_letter = token.chars().any(|c| c.is_ascii_alphanumeric());
            let ends = [token.chars().next(), token.chars().next_back()];
            let is_mark = |c: char| c.is_ascii_punctuation() && c != '_';
            prop_assert!(!(has_letter && ends.into_iter().flatten().any(is_mark)), "{token:?} of {text:?}");
        }
    }
}

proptest! {
    /// Compares with the standard library's split, at every position of a block and with every control character.
    #[test]
    fn blanks_are_found_wherever_they_stand(text in "[ \t\n\r\u{0}\u{1}\u{8}\u{b}\u{c}\u{e}\u{1f}\u{7f}!aé\u{a0}]{0,200}") {
        let blank = |c: char| matches!(c, ' ' | '\t'..='\r' | '\0');
        let expected: Vec<&str> = text.split(blank).filter(|token| !token.is_empty()).collect();
        prop_assert_eq!(Tokenizer::whitespace().tokens(&text), expected);
    }
}
