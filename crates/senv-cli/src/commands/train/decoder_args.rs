//! Arguments shared by systems with decoders: vocabulary, length of sentences, output layer.

use clap::ValueEnum;
use senv_losses::DEFAULT_SAMPLED;
use senv_models::{GruStyle, LongSentences, OutputForm};

use super::names::{names, set};

names!(StyleArg for GruStyle {
    Paper => GruStyle::Paper, Release => GruStyle::Release, Torch => GruStyle::Torch, Tf1 => GruStyle::Tf1,
});
names!(LongArg for LongSentences { Cut => LongSentences::Cut, Drop => LongSentences::Drop });

/// How the next word is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SoftmaxArg {
    /// Against all words: exact, slow.
    Full,
    /// In training against a few words drawn by frequency.
    Sampled,
    /// In clusters by frequency: exact in a form of its own.
    Adaptive,
}

/// Where clusters of the adaptive softmax begin unless it is said.
const CUTOFFS: [usize; 2] = [2_000, 10_000];

/// What a recurrent system with decoders knows and says.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct DecoderArgs {
    /// At most so many words, the end of a sentence and the one for unknown words among them.
    #[arg(long, visible_alias = "vocabulary", value_name = "N", help_heading = "Text")]
    max_vocabulary: Option<usize>,
    /// Words of a sentence that are read, at least 1.
    #[arg(long, value_name = "N", help_heading = "Text")]
    max_tokens: Option<usize>,
    /// What becomes of longer sentences in training: they are cut, or left out.
    #[arg(long, value_name = "WHAT", help_heading = "Text")]
    long: Option<LongArg>,
    /// How the next word is judged: against all words (full), some drawn ones (sampled), in clusters (adaptive).
    #[arg(long, value_name = "HOW", help_heading = "Training")]
    softmax: Option<SoftmaxArg>,
    /// Words drawn a step for --softmax sampled, at least 1 [default: 512]
    #[arg(long, value_name = "N", help_heading = "Training")]
    samples: Option<usize>,
    /// Where clusters of --softmax adaptive begin, rising [default: 2000,10000]
    #[arg(long, value_name = "N,...", value_delimiter = ',', help_heading = "Training")]
    cutoffs: Option<Vec<usize>>,
}

/// The fields that [`DecoderArgs`] sets.
pub(crate) struct DecoderParts<'a> {
    pub(crate) max_vocabulary: &'a mut Option<usize>,
    pub(crate) max_tokens: &'a mut usize,
    pub(crate) long: &'a mut LongSentences,
    pub(crate) output: &'a mut OutputForm,
}

impl DecoderArgs {
    /// Sets what was given.
    ///
    /// # Errors
    /// A message where an argument has nothing to act on.
    pub(crate) fn apply(&self, parts: DecoderParts<'_>) -> Result<(), String> {
        set(parts.max_vocabulary, self.max_vocabulary);
        set(parts.max_tokens, self.max_tokens);
        set(parts.long, self.long);
        match self.softmax {
            Some(SoftmaxArg::Full) => *parts.output = OutputForm::Full,
            Some(SoftmaxArg::Sampled) => *parts.output = OutputForm::Sampled { words: DEFAULT_SAMPLED },
            Some(SoftmaxArg::Adaptive) => *parts.output = OutputForm::Adaptive { cutoffs: CUTOFFS.to_vec() },
            None => {}
        }
        match (self.samples, &mut *parts.output) {
            (Some(n), OutputForm::Sampled { words }) => *words = n,
            (Some(_), _) => return Err("--samples goes with --softmax sampled".into()),
            (None, _) => {}
        }
        match (&self.cutoffs, parts.output) {
            (Some(given), OutputForm::Adaptive { cutoffs }) => cutoffs.clone_from(given),
            (Some(_), _) => return Err("--cutoffs goes with --softmax adaptive".into()),
            (None, _) => {}
        }
        Ok(())
    }
}

/// The fields of parameters that [`DecoderArgs`] sets.
macro_rules! decoder_parts {
    ($params:expr) => {
        crate::commands::train::decoder_args::DecoderParts {
            max_vocabulary: &mut $params.max_vocabulary,
            max_tokens: &mut $params.max_tokens,
            long: &mut $params.long,
            output: &mut $params.output,
        }
    };
}
pub(crate) use decoder_parts;

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(
        softmax: Option<SoftmaxArg>,
        samples: Option<usize>,
        cutoffs: Option<Vec<usize>>,
    ) -> Result<OutputForm, String> {
        let args = DecoderArgs { max_vocabulary: None, max_tokens: None, long: None, softmax, samples, cutoffs };
        let (mut max_vocabulary, mut max_tokens, mut long, mut output) =
            (None, 3, LongSentences::Cut, OutputForm::Full);
        let (max_vocabulary, max_tokens, long) = (&mut max_vocabulary, &mut max_tokens, &mut long);
        args.apply(DecoderParts { max_vocabulary, max_tokens, long, output: &mut output }).map(|()| output)
    }

    #[test]
    fn samples_and_cutoffs_need_the_softmax_they_belong_to() {
        assert_eq!(applied(None, None, None), Ok(OutputForm::Full));
        assert_eq!(applied(Some(SoftmaxArg::Sampled), None, None), Ok(OutputForm::Sampled { words: 512 }));
        assert_eq!(applied(Some(SoftmaxArg::Sampled), Some(9), None), Ok(OutputForm::Sampled { words: 9 }));
        let cutoffs = vec![5, 7];
        let adaptive = OutputForm::Adaptive { cutoffs: cutoffs.clone() };
        assert_eq!(applied(Some(SoftmaxArg::Adaptive), None, Some(cutoffs.clone())), Ok(adaptive));
        assert!(applied(None, Some(9), None).unwrap_err().contains("--samples"));
        assert!(applied(Some(SoftmaxArg::Sampled), None, Some(cutoffs)).unwrap_err().contains("--cutoffs"));
    }
}
