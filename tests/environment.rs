//! `ARGREDUCE_ISA`: read once per process, so each case is a process of its own: this test again, with another
//! environment.

use argreduce::{ArgReduce, AxisDirection, Isa, Layout, ReduceFunction, SliceExt};
use std::process::Command;

const VARIABLE: &str = "ARGREDUCE_ISA";

/// Plans without forcing an ISA, in a process with the variable set, and gives the ISA or the message.
fn planned_with(value: &str) -> String {
    let this = std::env::current_exe().unwrap();
    let output = Command::new(this)
        .args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"])
        .env(VARIABLE, value)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let answer =
        text.lines().find_map(|line| line.split_once("planned: ")).unwrap_or_else(|| panic!("no answer: {text}"));
    answer.1.to_string()
}

#[test]
#[ignore = "run by the other test, in a process of its own"]
fn child() {
    let layout = Layout::contiguous(&[40]).unwrap();
    let planned = match ArgReduce::argmax(&layout).all_axes().plan::<f32, u32>() {
        Ok(plan) => plan.isa().to_string(),
        Err(error) => error.to_string(),
    };
    println!("planned: {planned}");
    // Columns as narrow as this are faster by narrower vectors: but a forced ISA is forced.
    let narrow = Layout::contiguous(&[100, 3, 15]).unwrap();
    if let (Ok(isa), Ok(plan)) = (planned.parse::<Isa>(), ArgReduce::argmax(&narrow).axes(&[1]).plan::<f32, u32>()) {
        let is_forced = std::env::var_os(VARIABLE).is_some_and(|name| !name.is_empty());
        let kernel = if is_forced || isa != Isa::Avx512 { isa } else { Isa::Avx2 };
        assert!(plan.to_string().ends_with(&format!(", {kernel}")), "{plan}");
    }
    // Forcing one in the program beats the environment, and slices always get an answer.
    let forced = ArgReduce::argmax(&layout).all_axes().isa(Isa::Portable).plan::<f32, u32>().unwrap();
    assert_eq!(forced.isa(), Isa::Portable);
    assert_eq!([1, 3, 2].argmax(), Some(1));
    let mut long = [1; 40];
    long[17] = 3;
    assert_eq!(long.argmax(), Some(17));
    // Ties to the last take a plan.
    assert_eq!([3, 1, 3, 2].arg_reduce(ReduceFunction::ArgMax, AxisDirection::Decreasing), Some(2));
}

#[test]
fn the_environment_names_the_isa() {
    let names: String = Isa::available().map(|isa| format!(" {isa}")).collect();
    for isa in Isa::ALL {
        let expected = if isa.is_available() {
            isa.to_string()
        } else {
            format!("the ISA {isa} is not available here: choose from{names}")
        };
        assert_eq!(planned_with(isa.name()), expected);
    }
    let all = Isa::ALL.map(Isa::name).join(" ");
    let unknown = format!("ARGREDUCE_ISA=sse9 names no ISA: there are {all}, of which this machine has{names}");
    assert_eq!(planned_with("sse9"), unknown);
    assert_eq!(planned_with(""), Isa::detect().to_string());
}

/// Which ISA is the best is a matter of the CPU, so whoever knows it says what to expect.
#[test]
fn the_best_isa_is_that_of_the_cpu() {
    let expected = std::env::var("ARGREDUCE_TESTS_BEST_ISA").unwrap_or(Isa::detect().to_string());
    assert_eq!(planned_with(""), expected);
}
