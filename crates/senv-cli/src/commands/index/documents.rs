//! What a document of the input is.

use senv::{SentenceCollection, jobs::FolderContent};
use senv_index::Collection;

use super::{DocumentArg, Index};
use crate::{
    failure::{Failure, Result},
    folders::Collections,
    output,
};

impl Index {
    /// Puts the files of folders in their place. A folder of text is read as documents, unless the collection has
    /// sentences.
    pub(super) fn open_folders(&mut self) -> Result {
        if !self.input.has_folder() {
            return Ok(());
        }
        let is_text = self.columns.is_empty();
        let content = if is_text { FolderContent::Text } else { FolderContent::Tables };
        self.input.open_folders(content, Collections::Refused)?;
        if is_text && self.documents == Some(None) {
            self.documents = Some(Some(DocumentArg::Files));
        }
        let may_be_documents = self.vectors.is_none() && !self.replace && (!self.add || self.has_documents()?);
        if is_text && self.documents.is_none() && may_be_documents {
            output::note("each file of the folder is a document; to index its lines, give the files");
            self.documents = Some(Some(DocumentArg::Files));
        }
        Ok(())
    }

    /// What a document is, if there are any.
    pub(super) fn documents(&self) -> Option<DocumentArg> {
        self.documents.map(|documents| documents.unwrap_or(DocumentArg::Lines))
    }

    /// Whether the existing collection has documents.
    fn has_documents(&self) -> Result<bool> {
        let collection = Collection::open(&self.output)?;
        Ok(collection.columns().iter().any(|column| column == SentenceCollection::PLACE))
    }

    /// Refuses to add sentences to a collection of documents, or the reverse.
    pub(super) fn check_documents(&self) -> Result {
        if !self.add {
            return Ok(());
        }
        let has_documents = self.has_documents()?;
        let shown = self.output.display();
        if has_documents && self.documents.is_some() {
            self.check_columns()?;
        }
        match (has_documents, self.documents.is_some()) {
            (true, false) => Err(Failure::Usage(format!("{shown} has documents; add --documents to add more of them"))),
            (false, true) => Err(Failure::Usage(format!(
                "{shown} has sentences, not documents; make a new collection for the documents"
            ))),
            _ => Ok(()),
        }
    }
}
