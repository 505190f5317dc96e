//! CUDA's compiler as a library (NVRTC), for kernels of lengths that were not compiled in advance: looked for at run time, its results
//! kept on disk for this and other processes.

use crate::error::FftError;
use crate::executor::cuda::device::compiler_search;
use crate::executor::cuda::device::launch::Compilation;
use libloading::Library;
use ozfft_kernels::template::{self, KernelSpec};
use sha2::{Digest, Sha256};
use std::error::Error;
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Where NVRTC is: a path, or `off`.
const LIBRARY_VARIABLE: &str = "OZFFT_NVRTC";

/// The folder of kernels that were compiled before.
const CACHE_VARIABLE: &str = "OZFFT_CACHE";

/// A kernel's machine code.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) image: Vec<u8>,
    /// Where it was not on disk.
    pub(crate) compilation: Option<Compilation>,
}

/// The machine code of a kernel for a GPU of this compute capability; or why there is none, and how to get it.
pub(crate) fn compile(
    spec: &KernelSpec,
    conversions: bool,
    capability: (i32, i32),
) -> Result<Compiled, String> {
    let nvrtc = loaded().as_ref().map_err(String::clone)?;
    let source = spec.source(conversions);
    let architecture = architecture_of(capability);
    let cache = Cache::new(&source, &architecture, nvrtc.version);
    if let Some(image) = cache.as_ref().and_then(Cache::read) {
        return Ok(Compiled {
            image,
            compilation: None,
        });
    }
    let start = Instant::now();
    let image = nvrtc.compile(&source, &architecture)?;
    let compilation = Compilation {
        seconds: start.elapsed().as_secs_f64(),
        kept: cache.is_some_and(|cache| cache.write(&image).is_ok()),
    };
    Ok(Compiled {
        image,
        compilation: Some(compilation),
    })
}

/// The library, looked for once in a process.
fn loaded() -> &'static Result<Nvrtc, String> {
    static LOADED: OnceLock<Result<Nvrtc, String>> = OnceLock::new();
    LOADED.get_or_init(Nvrtc::load)
}

/// CUDA's compiler as a library (NVRTC), as [`cuda_compiler`] has found it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CudaCompiler {
    /// Major and minor version.
    pub version: (i32, i32),
    /// The library's file, or its name where the loader has found it and does not say where.
    pub path: PathBuf,
}

/// The compiler that makes kernels of lengths that were not compiled in advance; or why there is none, and how to get it. Plans for GPUs
/// do without it, on the portable kernel. No GPU is needed to ask.
pub fn cuda_compiler() -> Result<CudaCompiler, FftError> {
    match loaded() {
        Ok(nvrtc) => Ok(CudaCompiler {
            version: nvrtc.version,
            path: nvrtc.path.clone(),
        }),
        Err(reason) => Err(FftError::Unsupported(reason.clone())),
    }
}

/// What the compiler calls GPUs of this compute capability; Hopper with the instructions that no later one has.
fn architecture_of((major, minor): (i32, i32)) -> String {
    let alone = if (major, minor) == (9, 0) { "a" } else { "" };
    format!("sm_{major}{minor}{alone}")
}

/// Where compiled kernels are kept, if there is a folder for them.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    variable(CACHE_VARIABLE).map(PathBuf::from).or_else(|| {
        let caches = variable("XDG_CACHE_HOME").map(PathBuf::from);
        let caches = caches.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".cache")));
        Some(caches?.join("ozfft").join("kernels"))
    })
}

/// A file with a kernel's machine code behind its SHA-256.
struct Cache {
    path: PathBuf,
}

impl Cache {
    /// Named by everything that the machine code depends on; none where there is no folder for it.
    fn new(source: &str, architecture: &str, (major, minor): (c_int, c_int)) -> Option<Cache> {
        let folder = cache_folder()?;
        let mut hash = Sha256::new();
        let texts = template::headers().flat_map(|(name, text)| [name, text]);
        let version = format!("{major}.{minor}");
        for text in texts.chain([source, architecture, &version]) {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        let name = format!("{:x}.cubin", hash.finalize());
        Some(Cache {
            path: folder.join(name),
        })
    }

    fn read(&self) -> Option<Vec<u8>> {
        let file = fs::read(&self.path).ok()?;
        let (digest, image) = file.split_at_checked(32)?;
        // A file of another's making, or half of one, is compiled again.
        (Sha256::digest(image)[..] == *digest).then(|| image.to_vec())
    }

    /// Under a name of its own first: other processes see all of a file or none.
    fn write(&self, image: &[u8]) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        // Threads for two GPUs of a kind write the same file, too.
        static WRITTEN: AtomicU64 = AtomicU64::new(0);
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        let own = self
            .path
            .with_extension(format!("{}-{number}.new", std::process::id()));
        let file = [&Sha256::digest(image)[..], image].concat();
        let written = fs::write(&own, file).and_then(|()| fs::rename(&own, &self.path));
        if written.is_err() {
            let _ = fs::remove_file(&own);
        }
        written
    }
}

/// A program of NVRTC.
type Program = *mut c_void;
type Strings = *const *const c_char;

/// The functions of the library that are used. It is never unloaded.
struct Nvrtc {
    version: (c_int, c_int),
    path: PathBuf,
    create: unsafe extern "C" fn(
        *mut Program,
        *const c_char,
        *const c_char,
        c_int,
        Strings,
        Strings,
    ) -> c_int,
    compile: unsafe extern "C" fn(Program, c_int, Strings) -> c_int,
    destroy: unsafe extern "C" fn(*mut Program) -> c_int,
    log_size: unsafe extern "C" fn(Program, *mut usize) -> c_int,
    log: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
    image_size: unsafe extern "C" fn(Program, *mut usize) -> c_int,
    image: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
    error_text: unsafe extern "C" fn(c_int) -> *const c_char,
}

impl Nvrtc {
    fn load() -> Result<Nvrtc, String> {
        let wanted = std::env::var_os(LIBRARY_VARIABLE).filter(|value| !value.is_empty());
        match wanted {
            Some(wanted) => Nvrtc::named(&wanted),
            None => Nvrtc::among(&compiler_search::candidates()),
        }
    }

    /// What the variable says.
    fn named(wanted: &OsStr) -> Result<Nvrtc, String> {
        match wanted == "off" {
            true => Err(format!(
                "{LIBRARY_VARIABLE} is off, so that no kernel is compiled for this length; without it NVRTC is looked for in a CUDA toolkit \
                 and where `pip install nvidia-cuda-nvrtc` puts it"
            )),
            false => Nvrtc::among(&[PathBuf::from(wanted)]),
        }
    }

    /// The first that can be loaded.
    fn among(candidates: &[PathBuf]) -> Result<Nvrtc, String> {
        let mut reason = None;
        for candidate in candidates {
            match Nvrtc::open(candidate) {
                Ok(nvrtc) => return Ok(nvrtc),
                // What is there and does not load says more than what is not there.
                Err(error) if candidate.exists() => reason = Some(error),
                Err(error) => reason = reason.or(Some(error)),
            }
        }
        Err(format!(
            "NVRTC, which compiles kernels for this length, is not found ({}); install a CUDA toolkit or `pip install nvidia-cuda-nvrtc`, \
             or name the library in {LIBRARY_VARIABLE}",
            reason.unwrap_or_default()
        ))
    }

    fn open(path: &Path) -> Result<Nvrtc, String> {
        // It looks for its companion by name alone, where a package keeps both outside of the loader's folders.
        if let Some(folder) = path.parent().filter(|folder| folder.is_dir()) {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = entry.file_name();
                if name.to_string_lossy().starts_with("libnvrtc-builtins.so") {
                    // SAFETY: loads NVIDIA's library; it runs nothing of ours.
                    if let Ok(library) = unsafe { Library::new(entry.path()) } {
                        std::mem::forget(library);
                    }
                }
            }
        }
        // SAFETY: as above.
        let library = unsafe { Library::new(path) }.map_err(|error| reason(path, &error))?;
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: the type is that of NVRTC's documentation, the same in all of its versions; the library stays loaded.
                *unsafe { library.get(concat!($name, "\0").as_bytes()) }
                    .map_err(|error| reason(path, &error))?
            };
        }
        let version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int =
            function!("nvrtcVersion");
        let mut nvrtc = Nvrtc {
            version: (0, 0),
            path: file_of(path, version as usize),
            create: function!("nvrtcCreateProgram"),
            compile: function!("nvrtcCompileProgram"),
            destroy: function!("nvrtcDestroyProgram"),
            log_size: function!("nvrtcGetProgramLogSize"),
            log: function!("nvrtcGetProgramLog"),
            image_size: function!("nvrtcGetCUBINSize"),
            image: function!("nvrtcGetCUBIN"),
            error_text: function!("nvrtcGetErrorString"),
        };
        // SAFETY: both are places of integers.
        let code = unsafe { version(&mut nvrtc.version.0, &mut nvrtc.version.1) };
        nvrtc.check("nvrtcVersion", code)?;
        std::mem::forget(library);
        Ok(nvrtc)
    }

    fn check(&self, action: &str, code: c_int) -> Result<(), String> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: the texts are constants of the library.
        let text = unsafe { CStr::from_ptr((self.error_text)(code)) };
        Err(format!("{action}: {}", text.to_string_lossy()))
    }

    fn compile(&self, source: &str, architecture: &str) -> Result<Vec<u8>, String> {
        let c_string = |text: &str| {
            CString::new(text).unwrap_or_else(|error| unreachable!("no zeros in sources: {error}"))
        };
        let pointers = |strings: &[CString]| -> Vec<*const c_char> {
            strings.iter().map(|string| string.as_ptr()).collect()
        };
        let (names, texts): (Vec<_>, Vec<_>) = template::headers()
            .map(|(name, text)| (c_string(name), c_string(text)))
            .unzip();
        let options = [
            format!("--gpu-architecture={architecture}"),
            "--std=c++17".into(),
            // What sources leave without a mark is for the GPU.
            "--device-as-default-execution-space".into(),
        ];
        let options: Vec<CString> = options.iter().map(|option| c_string(option)).collect();
        let source = c_string(source);
        let mut program = std::ptr::null_mut();
        // SAFETY: all strings and lists outlive the call, which copies them.
        let code = unsafe {
            (self.create)(
                &mut program,
                source.as_ptr(),
                c"lines.cu".as_ptr(),
                names.len() as c_int,
                pointers(&texts).as_ptr(),
                pointers(&names).as_ptr(),
            )
        };
        self.check("nvrtcCreateProgram", code)?;
        // SAFETY: the program was made above; the options outlive the call.
        let code =
            unsafe { (self.compile)(program, options.len() as c_int, pointers(&options).as_ptr()) };
        let image = self.check("nvrtcCompileProgram", code).and_then(|()| {
            self.bytes(program, self.image_size, self.image)
                .map_err(|code| format!("nvrtcGetCUBIN: error {code}"))
        });
        let image = image.map_err(|error| {
            let log = self.bytes(program, self.log_size, self.log);
            let log = log.unwrap_or_default();
            let log = String::from_utf8_lossy(&log);
            let line = log.lines().find(|line| line.contains("error"));
            let (major, minor) = self.version;
            let line = line.unwrap_or_default();
            format!("NVRTC {major}.{minor} does not compile for {architecture}: {error} {line}")
        });
        // SAFETY: made above, and not used any more.
        unsafe { (self.destroy)(&mut program) };
        image
    }

    /// What a program has of this kind; or NVRTC's code.
    fn bytes(
        &self,
        program: Program,
        size: unsafe extern "C" fn(Program, *mut usize) -> c_int,
        get: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
    ) -> Result<Vec<u8>, c_int> {
        let mut length = 0;
        // SAFETY: the program is alive.
        match unsafe { size(program, &mut length) } {
            0 => {}
            code => return Err(code),
        }
        let mut bytes = vec![0u8; length];
        // SAFETY: as long as the library has said.
        match unsafe { get(program, bytes.as_mut_ptr().cast()) } {
            0 => Ok(bytes),
            code => Err(code),
        }
    }
}

/// Why a library cannot be used: what the loader says, which the error has beneath its own words.
fn reason(path: &Path, error: &libloading::Error) -> String {
    let said = error.source().map(ToString::to_string);
    let said = said.unwrap_or_else(|| error.to_string());
    let path = path.display().to_string();
    match said.contains(&path) {
        true => said,
        false => format!("{path}: {said}"),
    }
}

/// The file that a library has been loaded from: the one that was asked for, or, where that was a name for the loader, the one that the
/// system has mapped at the address of a function.
fn file_of(asked: &Path, function: usize) -> PathBuf {
    let mapped = || {
        let maps = fs::read_to_string("/proc/self/maps").ok()?;
        let holds = |line: &&str| {
            let range = line
                .split(' ')
                .next()
                .and_then(|range| range.split_once('-'));
            let number = |text: &str| usize::from_str_radix(text, 16).ok();
            let range = range.and_then(|(from, to)| Some(number(from)?..number(to)?));
            range.is_some_and(|range| range.contains(&function))
        };
        let line = maps.lines().find(holds)?;
        Some(PathBuf::from(&line[line.find('/')?..]))
    };
    match asked.components().count() {
        1 => mapped().unwrap_or_else(|| asked.into()),
        _ => asked.into(),
    }
}

/// What a plan is told where the variable has this value.
#[cfg(test)]
pub(crate) fn why_not_found(variable: &str) -> String {
    match Nvrtc::named(OsStr::new(variable)) {
        Ok(nvrtc) => panic!("there is one at {}", nvrtc.path.display()),
        Err(reason) => reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::cuda::device::compiler_search::entries;
    use crate::executor::cuda::device::emulated::Emulator;
    use crate::executor::cuda::device::machine::Machine;
    use crate::{Kind, Planner, Problem};
    use ozfft_kernels::template::{Block, Ends, Family, LongPass, Number, Pass, Real, TwoPasses};
    use ozfft_testkit::oracle::inputs::uniform_complex;
    use ozfft_testkit::{Requirement, assert_same_bits, available};
    use std::sync::Arc;

    fn cache(folder: &Path) -> Cache {
        Cache {
            path: folder.join("kernels").join("name.cubin"),
        }
    }

    #[test]
    fn cached_kernels_are_read_whole_or_not_at_all() {
        let folder = std::env::temp_dir().join(format!("ozfft-cache-{}", std::process::id()));
        let cache = cache(&folder);
        assert_eq!(cache.read(), None);
        cache
            .write(b"machine code")
            .expect("a folder that can be written");
        assert_eq!(cache.read().as_deref(), Some(&b"machine code"[..]));
        let whole = fs::read(&cache.path).unwrap();
        let mut wrong = whole.clone();
        *wrong.last_mut().unwrap() ^= 1;
        for bytes in [&whole[..20], &whole[..whole.len() - 1], &wrong] {
            fs::write(&cache.path, bytes).unwrap();
            assert_eq!(cache.read(), None);
        }
        // What cannot be written is an error: here a file stands where the folder should be.
        let blocked = Cache {
            path: cache.path.join("name.cubin"),
        };
        assert!(blocked.write(b"machine code").is_err());
        // Nothing but the file is left.
        assert_eq!(entries(cache.path.parent().unwrap()).len(), 1);
        fs::remove_dir_all(folder).unwrap();
    }

    /// Said in the library's message, in plans' remarks and by `python -m ozfft`.
    #[test]
    fn what_is_missing_is_said_with_the_remedy() {
        let off = why_not_found("off");
        assert!(off.starts_with("OZFFT_NVRTC is off"), "{off}");
        let nowhere = why_not_found("/nowhere/libnvrtc.so.13");
        assert!(nowhere.contains("/nowhere/libnvrtc.so.13"), "{nowhere}");
        // A file that is no library says more than a place without one.
        let folder = std::env::temp_dir().join(format!("ozfft-nvrtc-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let broken = folder.join("libnvrtc.so.13");
        fs::write(&broken, b"no library").expect("a file");
        let candidates = [folder.join("a"), broken.clone(), folder.join("b")];
        let error = Nvrtc::among(&candidates).err().expect("no library");
        assert!(error.contains(&broken.display().to_string()), "{error}");
        fs::remove_dir_all(folder).expect("the folder is there");
        for reason in [off, nowhere, error] {
            assert!(reason.contains("pip install nvidia-cuda-nvrtc"), "{reason}");
            assert!(reason.contains("toolkit"), "{reason}");
        }
    }

    /// Whatever a plan would compile a kernel for: blocks, passes, real lines, convolutions; and it has the same bits without.
    #[test]
    fn plans_without_a_compiler_say_so_and_how_to_get_one() {
        for (variable, why) in [
            ("off", "OZFFT_NVRTC is off"),
            ("/nowhere/nvrtc", "not found"),
        ] {
            let mut emulator = Emulator::with_tuned_kernels();
            emulator.without_compiler = Some(variable);
            let machine: Arc<dyn Machine> = Arc::new(emulator);
            let planner = Planner::<f64>::new();
            for problem in [
                Problem::complex(&[45]).batch(3),
                Problem::complex(&[1500]),
                Problem::complex(&[10_000]),
                Problem::complex(&[131]),
                Problem::real_to_complex(&[90]).batch(2),
            ] {
                let plan = planner.plan_on(&problem, &machine).expect("a plan");
                let text = plan.to_string();
                for part in [
                    "the portable kernel for",
                    why,
                    "pip install nvidia-cuda-nvrtc",
                ] {
                    assert!(text.contains(part), "{part:?} is not in {text}");
                }
                if problem.kind() != Kind::ComplexToComplex {
                    continue;
                }
                let input = uniform_complex(problem.input_len(), 11);
                let (mut expected, mut found) = (input.clone(), input);
                let reference = planner.plan(&problem).expect("a plan");
                reference.process(&mut expected).expect("a transform");
                plan.process(&mut found).expect("a transform");
                assert_same_bits(&expected, &found, 11, format_args!("{:?}", problem.shape()));
            }
        }
    }

    #[test]
    fn the_compiler_says_what_it_is_and_where() {
        let found = cuda_compiler().map_err(|error| {
            assert!(error.to_string().contains("pip install"), "{error}");
            error
        });
        let Some(found) = available(Requirement::Nvrtc, found) else {
            return;
        };
        assert!(found.version >= (11, 0), "{found:?}");
        assert!(found.path.to_string_lossy().contains("nvrtc"), "{found:?}");
    }

    /// Where a writer of its own process finds the folder.
    const FOLDER_OF_WRITER: &str = "OZFFT_TEST_CACHE_OF_WRITER";

    /// What process `number` writes: as long as kernels are, longer than what is written at once.
    fn image_of(number: u32) -> Vec<u8> {
        vec![number as u8; 70_000 + number as usize]
    }

    /// Two processes write the same file again and again, each its own contents, and read it: there is never anything else in it than one
    /// of both, whole, and nothing but the file is left.
    #[test]
    fn processes_that_write_the_same_kernel_see_all_of_it_or_none() {
        let write_and_read = |folder: &Path, number: u32| {
            let cache = cache(folder);
            for _ in 0..60 {
                cache.write(&image_of(number)).expect("a folder");
                // Read past the digest's check: what is seen must be whole, not merely refused.
                let file = fs::read(&cache.path).expect("the file is there");
                let is_whole = |number| {
                    let image = image_of(number);
                    file[..32] == Sha256::digest(&image)[..] && file[32..] == image[..]
                };
                assert!([1, 2, 3].into_iter().any(is_whole), "{} bytes", file.len());
            }
        };
        if let Some(folder) = std::env::var_os(FOLDER_OF_WRITER) {
            write_and_read(Path::new(&folder), std::process::id() % 2 + 1);
            return;
        }
        let folder = std::env::temp_dir().join(format!("ozfft-writers-{}", std::process::id()));
        let (_, module) = module_path!().split_once("::").expect("a crate's name");
        let name = format!("{module}::processes_that_write_the_same_kernel_see_all_of_it_or_none");
        let writer = || {
            let program = std::env::current_exe().expect("this test");
            let mut command = std::process::Command::new(program);
            command
                .args(["--exact", &name])
                .env(FOLDER_OF_WRITER, &folder);
            command.stdout(std::process::Stdio::piped());
            command.stderr(std::process::Stdio::piped());
            command.spawn().expect("a process")
        };
        let writers = [writer(), writer()];
        // Threads of one process are no different.
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| write_and_read(&folder, 3));
            }
        });
        for writer in writers {
            let output = writer.wait_with_output().expect("an end");
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(
                output.status.success() && text.contains("1 passed"),
                "{text}"
            );
        }
        assert!(cache(&folder).read().is_some());
        assert_eq!(entries(&folder.join("kernels")).len(), 1);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn caches_differ_by_source_architecture_and_compiler() {
        let name =
            |source, architecture, version| Cache::new(source, architecture, version).unwrap().path;
        let names = [
            name("a", "sm_80", (13, 0)),
            name("b", "sm_80", (13, 0)),
            name("a", "sm_90", (13, 0)),
            name("a", "sm_80", (12, 9)),
        ];
        let distinct: std::collections::HashSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
        assert_eq!(names[0], name("a", "sm_80", (13, 0)));
    }

    #[test]
    fn a_kernel_is_compiled_for_every_generation_of_gpus() {
        let Some(nvrtc) = available(Requirement::Nvrtc, Nvrtc::load()) else {
            return;
        };
        let spec = |family: Family, number, strided| {
            KernelSpec::new(family, number, strided, 99 << 10).expect("a kernel")
        };
        let block = |steps| Block { steps }.into();
        let usual = spec(block([11, 4]), Number::Double, true);
        // Short steps: the compiler's time grows with them.
        for (ends, number) in [
            (Ends::Complex, Number::Single),
            (Ends::RealToHalf, Number::Double),
            (Ends::HalfToReal, Number::Single),
            (Ends::Convolution, Number::Double),
            (Ends::Complex, Number::fewer(5)),
        ] {
            let steps = [[11, 1], [13, 1]];
            let passes = spec(TwoPasses { steps, ends }.into(), number, false);
            nvrtc.compile(&passes.source(true), "sm_80").unwrap();
        }
        // Every header of the template is there.
        for (number, pass) in [
            (Number::Double, Pass::ChirpedOpening),
            (Number::Single, Pass::UnchirpedClosing),
            (Number::Single, Pass::OpeningReal),
            (Number::Single, Pass::OpeningHalf),
            (Number::Single, Pass::ClosingReal),
            (Number::fewer(7), Pass::Opening),
            (Number::fewer(3), Pass::ClosingReal),
        ] {
            let pass = LongPass::new([11, 1, 1], 13, pass).into();
            let source = spec(pass, number, false).source(false);
            nvrtc.compile(&source, "sm_80").unwrap();
        }
        for (number, ends) in [
            (Number::Double, Ends::RealToHalf),
            (Number::Single, Ends::RealToHalf),
            (Number::Single, Ends::HalfToReal),
            (Number::fewer(4), Ends::RealToHalf),
            (Number::fewer(6), Ends::HalfToReal),
        ] {
            let steps = [11, 4];
            let real = spec(Real { steps, ends }.into(), number, false);
            nvrtc.compile(&real.source(true), "sm_80").unwrap();
        }
        // Products in fp8, from the first generation that has them on.
        let fp8 = spec(block([11, 1]), Number::DoubleFp8, false);
        for architecture in ["sm_89", "sm_90", "sm_103", "sm_120"] {
            nvrtc.compile(&fp8.source(false), architecture).unwrap();
        }
        assert!(nvrtc.compile(&fp8.source(false), "sm_80").is_err());
        let f16 = spec(block([11, 1]), Number::DoubleF16, false);
        for architecture in ["sm_80", "sm_103", "sm_120"] {
            nvrtc.compile(&f16.source(false), architecture).unwrap();
        }
        for architecture in ["sm_80", "sm_89", "sm_90", "sm_120"] {
            let image = nvrtc.compile(&usual.source(false), architecture).unwrap();
            assert_eq!(&image[..4], b"\x7fELF");
            let name = usual.name(false);
            let has_name = image
                .windows(name.len())
                .any(|bytes| bytes == name.as_bytes());
            assert!(has_name, "{name} for {architecture}");
        }
        let error = nvrtc.compile("void f() { nothing }", "sm_80").unwrap_err();
        assert!(error.contains("error"), "{error}");
        let error = nvrtc.compile(&usual.source(true), "sm_10").unwrap_err();
        assert!(error.contains("sm_10"), "{error}");
    }
}
