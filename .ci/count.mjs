/**
 * Adds up the JSON reports of test runs, names each test that failed with the beginning of its message, and prints
 * "N passed, N failed". Exits with 1 unless every run reported, passed and skipped nothing but what is named here.
 */
import { readFileSync } from 'node:fs'

/** Files whose tests say themselves why they cannot run here: a machine that makes no network namespace. */
const MAY_SKIP = /\/test\/outbound\/canaries\.test\.ts$/

/** Lines of a failed test's message that are shown: the last of CI's output is often all that is kept. */
const SHOWN_LINES = 12

let passed = 0
let failed = 0
for (const path of process.argv.slice(2)) {
  const files = reportOf(path)
  if (files.length === 0) failed += 1
  for (const { name, status, message, assertionResults } of files) {
    const count = (...wanted) => assertionResults.filter((test) => wanted.includes(test.status)).length
    const skipped = count('skipped', 'pending', 'todo', 'disabled')
    const faults = count('failed') + (MAY_SKIP.test(name) ? 0 : skipped)
    passed += count('passed')
    // A file that fails before its first test has no failed test; it counts as one.
    failed += status === 'failed' && faults === 0 ? 1 : faults
    if (skipped > 0) say(`${skipped} skipped in ${name}`)
    for (const test of assertionResults) {
      if (test.status === 'failed') sayFailed(`${name} > ${test.fullName}`, test.failureMessages.join('\n'))
    }
    if (status === 'failed' && count('failed') === 0) sayFailed(name, message)
  }
}
say(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0

/** The files of a run; none when the run was killed before it could write its report. */
function reportOf(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).testResults
  } catch {
    say(`no report ${path}`)
    return []
  }
}

function sayFailed(name, message) {
  say([`FAILED ${name}`, ...message.split('\n').slice(0, SHOWN_LINES)].join('\n  '))
}

function say(line) {
  process.stdout.write(`${line}\n`)
}
