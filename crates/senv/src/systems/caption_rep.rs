//! CaptionRep: an encoder that maps the caption of an image to the vector of the image.
//!
//! F. Hill, K. Cho and A. Korhonen, "Learning Distributed Representations of Sentences from Unlabelled Data", NAACL
//! 2016, section 2.3. It is DictRep with captions instead of definitions and image vectors instead of word vectors;
//! several captions share one target.

use senv_core::hyperparameters::hyperparameters;
use serde::{Deserialize, Serialize};

use crate::{
    base::train_options::TrainOptions,
    error::Result,
    model::trained::Trained,
    system::{
        about::{About, NamedSettings},
        contract::{Common, System, Trainer},
        start::Start,
        training_data::Unread,
    },
    targets::{TargetModel, TargetParams, TargetSystem, TextTargets, fit_targets},
};

hyperparameters! {
    /// Hyperparameters of CaptionRep: those of [`TargetParams`].
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct CaptionRepParams {
        /// All settings.
        pub settings: TargetParams = TargetParams::default() => group;
    }
}

/// A trained CaptionRep.
pub type CaptionRep = TargetModel<CaptionRepParams>;

impl TargetSystem for CaptionRepParams {
    const KIND: &'static str = "caption-rep";

    fn settings(&self) -> &TargetParams {
        &self.settings
    }

    fn settings_mut(&mut self) -> &mut TargetParams {
        &mut self.settings
    }
}

impl System for CaptionRepParams {
    type Model = CaptionRep;
    type Input = TextTargets;
    type Data<'a> = Unread<'a, TextTargets>;
    type Dev<'d> = ();
    const ABOUT: About = About {
        name: Self::KIND,
        summary: "CaptionRep: an encoder that maps the caption of an image to the vector of the image",
        examples: &[
            "senv train caption-rep --captions captions.tsv --image-vectors images.npy --output captions.senv",
            "senv train caption-rep --captions captions.tsv --stand-in words.senv --output tried-out.senv",
        ],
        note: "Row i of the matrix belongs to the i-th image, in order of first occurrence. To try it without images, \
            --stand-in replaces an image vector with the mean vector of the image's other captions.",
        preset: "Start from a named preset instead of settings that fit most captions; explicit options override it",
    };
    const NAMED_SETTINGS: &'static [NamedSettings<Self>] = &[
        NamedSettings {
            name: "paper",
            help: "AdaDelta, batches of 16, margin 0.1",
            settings: || Self { settings: TargetParams::paper() },
        },
        NamedSettings {
            name: "release",
            help: "As in the paper, with margin 1, 30,000 words, an end token and an unknown-word token",
            settings: || Self { settings: TargetParams::release() },
        },
    ];

    fn check(&self) -> Result<()> {
        self.settings.check()
    }

    fn common(&mut self) -> Common<'_> {
        let TargetParams { dim, tokenizer, fit, .. } = &mut self.settings;
        Common { dim, tokenizer, trainer: Trainer::Gradient(fit) }
    }

    fn read_input<'a>(
        &mut self,
        input: &'a TextTargets,
        start: Start<'a>,
        _: &TrainOptions<'_, ()>,
    ) -> Result<Unread<'a, TextTargets>> {
        Ok(Unread { input, start })
    }

    fn fit_on(&self, data: &Unread<'_, TextTargets>, options: &TrainOptions<'_, ()>) -> Result<Trained<CaptionRep>> {
        let &Unread { input: captions, start } = data;
        fit_targets(self, captions, start, options)
    }
}
