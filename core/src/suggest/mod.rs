//! Suggests a method and a threshold from the documents themselves: what kind of texts they are
//! ([`profile`]), how many pairs reach each similarity ([`curve`]), and whether documents share
//! parts of them ([`shares`]); [`advice`] puts it into words. With answers to some pairs, which
//! [`proposals`] chooses, the precision and the recall of each threshold are known ([`answers`],
//! [`labelled`]), and whether words had better weigh ([`weighed`]).

pub mod advice;
pub mod answers;
pub mod curve;
pub mod labelled;
pub mod profile;
pub mod proposals;
pub mod shares;
pub mod weighed;
