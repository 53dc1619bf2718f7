//! What Guo et al. have in their tables, to stand beside ours.

/// Table II: what goes by experiments I to V.
pub const TABLE_II: [[&str; 6]; 5] = [
    ["I", "24633", "1552", "6.30 %", "0.348", "32"],
    ["II", "25476", "684", "2.68 %", "1.000", "36"],
    ["III", "25476", "747", "2.93 %", "1.000", "43"],
    ["IV", "25476", "1410", "5.53 %", "0.993", "36"],
    ["V", "25476", "1769", "6.94 %", "0.990", "44"],
];
/// Table III: what goes by its contenders.
pub const TABLE_III: [[&str; 6]; 3] = [
    ["M1", "25476", "1769", "6.94 %", "0.990", "-"],
    ["M2", "-", "-", "9.96 %", "0.854", "-"],
    ["M3", "-", "-", "4.60 %", "0.949", "-"],
];
/// Table IV from 1 down to 0.7: what goes, and the precision.
pub const TABLE_IV: [[&str; 2]; 7] = [
    ["1410", "0.993"],
    ["1452", "0.992"],
    ["1557", "0.992"],
    ["1659", "0.991"],
    ["1709", "0.991"],
    ["1769", "0.990"],
    ["1810", "0.988"],
];

/// Rows of a table: what goes, of how many, which share that is, the precision, seconds.
pub fn rows(rows: &[[&str; 6]]) -> Vec<Vec<String>> {
    let row = |[name, effective, eliminated, rate, precision, seconds]: &[&str; 6]| {
        let name = format!("the paper, {name}");
        [name.as_str(), *effective, *eliminated, *rate, *precision, "-", *seconds].map(str::to_owned).to_vec()
    };
    rows.iter().map(row).collect()
}
