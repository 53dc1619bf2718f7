//! Published parameters, by name.

use super::banding::Banding;

/// The parameters of a published pipeline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preset {
    /// The name of the preset.
    pub name: &'static str,
    /// The method that the preset is for.
    pub method: &'static str,
    /// The number of tokens in a shingle, or of characters if `chars` is set.
    pub shingle: i32,
    /// True if shingles consist of characters.
    pub chars: bool,
    /// For minhash, the bands and rows; for supershingles, the groups and the values in a group;
    /// `None` for simhash.
    pub bands: Option<Banding>,
    /// For simhash, the number of bits and the greatest distance.
    pub simhash: Option<(u16, u16)>,
    /// A description of the preset.
    pub about: &'static str,
}

const fn minhash(
    name: &'static str,
    shingle: i32,
    chars: bool,
    bands: usize,
    rows: usize,
    about: &'static str,
) -> Preset {
    Preset {
        name,
        method: "minhash",
        shingle,
        chars,
        bands: Some(Banding { bands, rows }),
        simhash: None,
        about,
    }
}

/// All presets.
pub const PRESETS: [Preset; 6] = [
    minhash("fineweb", 5, false, 14, 8, "FineWeb: 5-word shingles, 112 values"),
    minhash("olmo3", 5, false, 26, 11, "OLMo 3: 5-word shingles, 286 values"),
    minhash("nemo", 24, true, 20, 13, "NeMo Curator: 24-character shingles, 260 values"),
    minhash("core_titles", 2, false, 50, 4, "short texts such as titles: 2-word shingles, 200 values"),
    Preset {
        name: "henzinger",
        method: "shingling",
        shingle: 8,
        chars: false,
        bands: Some(Banding { bands: 6, rows: 14 }),
        simhash: None,
        about: "Broder, Fetterly, Henzinger: 8-word shingles, 84 values, 2 of 6 supershingles",
    },
    Preset {
        name: "simhash_web",
        method: "simhash",
        shingle: 1,
        chars: false,
        bands: None,
        simhash: Some((64, 3)),
        about: "Manku, Jain, Das Sarma: 64 bits, at most 3 differ",
    },
];

/// Returns the preset with this name.
pub fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

/// Returns the names of the presets of a method, or of all presets.
pub fn names(method: Option<&str>) -> String {
    let of_method = PRESETS.iter().filter(|preset| method.is_none_or(|method| preset.method == method));
    of_method.map(|preset| preset.name).collect::<Vec<_>>().join(", ")
}
