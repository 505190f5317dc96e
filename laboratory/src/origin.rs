//! What this program was built from, for its records.

/// The commit, with a mark if files differed from it; nothing where the build did not know.
pub fn built_commit() -> Option<String> {
    let commit = env!("OZFFT_BUILT_FROM");
    (!commit.is_empty()).then(|| commit.into())
}
