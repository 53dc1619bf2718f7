//! The examples find what they are said to find.

use std::fs;

#[path = "../examples/pairs_of_folder.rs"]
#[allow(dead_code, reason = "its main function reads the command line")]
mod pairs_of_folder;

#[test]
fn pairs_of_a_folder() {
    let folder = std::env::temp_dir().join(format!("neardup-pairs-of-folder-{}", std::process::id()));
    fs::create_dir_all(folder.join("deeper")).unwrap();
    let files = [("a", "The red crane left."), ("b", "Nothing of it."), ("deeper/c", "the red, crane: LEFT")];
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
    let found = pairs_of_folder::pairs_of_folder(&folder, 0.8);
    let refused = pairs_of_folder::pairs_of_folder(&folder, 80.0);
    fs::remove_dir_all(&folder).unwrap();
    let [a, c] = ["a", "deeper/c"].map(|name| folder.join(name).display().to_string());
    assert_eq!(found.unwrap(), [format!("1.000 {a} {c}")]);
    assert!(refused.is_err());
    assert!(pairs_of_folder::pairs_of_folder(&folder, 0.8).is_err(), "the folder is not there");
}
