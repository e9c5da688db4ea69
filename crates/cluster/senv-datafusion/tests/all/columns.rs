//! Every kind of text column, with nulls and empty sentences.

use std::sync::Arc;

use datafusion::arrow::{
    array::{
        Array, ArrayRef, AsArray, BinaryArray, DictionaryArray, Int32Array, LargeStringArray, StringArray,
        StringViewArray,
    },
    compute::concat,
    datatypes::{Float32Type, Int8Type, Int32Type},
};

use crate::support::{column, error, session_with, vectors};

const TEXTS: [Option<&str>; 6] = [
    Some("Rain is coming."),
    None,
    Some(""),
    Some("A storm brings rain and wind over the hills, long enough to be no inlined view."),
    Some("Rain is coming."),
    Some("zxqv"),
];

/// The same texts in every type.
fn columns() -> Vec<(&'static str, ArrayRef)> {
    let utf8: StringArray = TEXTS.into_iter().collect();
    let dictionary: DictionaryArray<Int8Type> = TEXTS.into_iter().collect();
    // A dictionary with more values than rows, whose values have a null.
    let values: StringArray = TEXTS.into_iter().chain([None, Some("unused")]).collect();
    let keys = Int32Array::from(vec![Some(0), Some(1), Some(2), Some(3), None, Some(5)]);
    let large_dictionary = DictionaryArray::<Int32Type>::try_new(keys, Arc::new(values)).unwrap();
    let longer = concat(&[&utf8, &utf8]).unwrap();
    vec![
        ("utf8", Arc::new(utf8)),
        ("large", Arc::new(TEXTS.into_iter().collect::<LargeStringArray>())),
        ("view", Arc::new(TEXTS.into_iter().collect::<StringViewArray>())),
        ("dictionary", Arc::new(dictionary)),
        ("wide", Arc::new(large_dictionary)),
        ("slice", longer.slice(6, 6)),
    ]
}

#[tokio::test]
async fn embeddings_are_those_of_senv_bit_for_bit_in_every_type_of_text() {
    let english = senv::english().unwrap();
    let context = session_with(columns());
    for (name, array) in columns() {
        let expected: Vec<_> = TEXTS
            .iter()
            .enumerate()
            .map(|(row, text)| {
                text.filter(|_| !(name == "wide" && row == 4)).map(|text| english.encode_one(text).to_vec())
            })
            .collect();
        let found = column(&context, &format!("SELECT embed({name}) FROM t")).await.unwrap();
        assert_eq!(vectors(&found), expected, "{name}: {:?}", array.data_type());
        assert_eq!(found.as_fixed_size_list().value_length() as usize, english.dim());
    }
}

#[tokio::test]
async fn the_other_functions_take_every_type_of_text() {
    let english = senv::english().unwrap();
    let context = session_with(columns());
    let other = "A storm brings rain.";
    for (name, _) in columns().into_iter().filter(|(name, _)| *name != "wide") {
        let found = column(&context, &format!("SELECT similarity({name}, '{other}') FROM t")).await.unwrap();
        let expected: Vec<_> =
            TEXTS.iter().map(|text| text.map(|text| english.similarity(text, other).to_bits())).collect();
        let found: Vec<_> = found.as_primitive::<Float32Type>().iter().map(|x| x.map(f32::to_bits)).collect();
        assert_eq!(found, expected, "{name}");

        let found = column(&context, &format!("SELECT coverage({name}) FROM t")).await.unwrap();
        let found: Vec<_> = found.as_primitive::<Float32Type>().iter().collect();
        assert_eq!((found[0], found[1], found[2], found[5]), (Some(1.0), None, None, Some(0.0)), "{name}");

        let found = column(&context, &format!("SELECT tokens({name}) FROM t")).await.unwrap();
        let lists = found.as_list::<i32>();
        let tokens: Vec<_> = lists.value(0).as_string::<i32>().iter().map(|token| token.unwrap().to_owned()).collect();
        assert_eq!(tokens, ["rain", "is", "coming", "."], "{name}");
        assert!(lists.is_null(1) && lists.value(2).is_empty() && lists.is_valid(2), "{name}");
    }
}

#[tokio::test]
async fn two_columns_are_compared_row_by_row() {
    let english = senv::english().unwrap();
    let others = ["Rain.", "Rain.", "Rain.", "Wind over hills.", "zxqv", "The dog barks."];
    let mut all = columns();
    all.push(("other", Arc::new(StringViewArray::from_iter_values(others))));
    let context = session_with(all);
    let found = column(&context, "SELECT similarity(dictionary, other) FROM t").await.unwrap();
    for (row, (text, other)) in TEXTS.into_iter().zip(others).enumerate() {
        let found = found.is_valid(row).then(|| found.as_primitive::<Float32Type>().value(row));
        assert_eq!(found, text.map(|text| english.similarity(text, other)), "{row}");
    }
}

#[tokio::test]
async fn columns_that_are_no_text_are_errors_that_name_function_and_argument() {
    let bytes = BinaryArray::from_vec(vec![b"rain"]);
    let context = session_with(vec![("n", Arc::new(Int32Array::from(vec![1]))), ("bytes", Arc::new(bytes))]);
    for (query, parts) in [
        ("SELECT embed(n) FROM t", ["embed: argument text", "Int32"]),
        ("SELECT embed(bytes) FROM t", ["embed: argument text", "arrow_cast"]),
        ("SELECT similarity('a', n) FROM t", ["similarity: argument b", "Int32"]),
        ("SELECT tokens(n) FROM t", ["tokens: argument text", "Int32"]),
        ("SELECT embed('a', 'b', 'c') FROM t", ["embed: argument list", "3 arguments"]),
        ("SELECT embed('a', 'french') FROM t", ["embed: argument model", "no model \"french\""]),
        ("SELECT coverage('a', arrow_cast(n, 'Utf8')) FROM t", ["coverage: argument model", "constant"]),
        ("SELECT embed('a', NULL) FROM t", ["embed: argument model", "NULL"]),
    ] {
        let message = error(&context, query).await;
        assert!(parts.iter().all(|part| message.contains(part)), "{query}: {message}");
    }
}

#[tokio::test]
async fn a_sentence_of_megabytes_is_an_error() {
    let long = "rain ".repeat(3 << 20);
    let context = session_with(vec![("text", Arc::new(StringArray::from(vec!["rain", &long])))]);
    let message = error(&context, "SELECT embed(text) FROM t").await;
    assert!(
        ["embed: argument text", "15728640 bytes", "number 1"].iter().all(|part| message.contains(part)),
        "{message}"
    );
}
