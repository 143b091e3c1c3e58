/**
 * `npm test`: all checks, fastest failures first. `npm run check` runs a selected part.
 *
 * Owns: the sequence and the closing line. A step before the tests that fails counts as one failure, so that the
 * last line never says "0 failed" about a tree that does not compile.
 */
import { parseArgs } from 'node:util'
import { checkPart } from './part.ts'
import { ALL_STEPS, failedStep } from './steps.ts'
import { allTestFiles, runTests } from './tests.ts'

const HELP = `Usage: npm run check -- [OPTION]... [TEST FILE]...

Without options: compile, lint, tidy, format, dead code, then the test files named, or all of them.

  --changed        check what differs from HEAD, and the tests that import it
  --since REF      check what differs from REF, and the tests that import it
  --room ROOM      run the tests of a component: raft, blobs, api, ... or a folder such as cluster/raft
  --nearest N      only the N of those tests that are fewest imports away
  --whole          play every long proof in full: more seeds, walks and mutants, and the runs that npm test leaves out
  --keep-going     do not stop at the first test file that fails (with --changed, --since and --room)
  --list           print what would be checked, and why
  --jobs N         test files that run at once; the default is in .taprc
`

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      changed: { type: 'boolean' },
      since: { type: 'string' },
      room: { type: 'string' },
      nearest: { type: 'string' },
      'keep-going': { type: 'boolean' },
      list: { type: 'boolean' },
      whole: { type: 'boolean' },
      jobs: { type: 'string' },
      help: { type: 'boolean' },
    },
  })
  if (values.help === true) {
    process.stdout.write(HELP)
    return 0
  }
  // test/helpers/proof-size.ts reads it.
  if (values.whole === true) process.env['HOLDFAST_PROOFS'] = 'whole'
  const jobs = values.jobs === undefined ? undefined : wholeNumber('--jobs', values.jobs)
  const since = values.since ?? (values.changed === true ? 'HEAD' : undefined)
  if (since !== undefined || values.room !== undefined) {
    if (positionals.length > 0)
      throw new Error(
        `Expected no test files beside --changed, --since or --room, got '${positionals.join(' ')}'`,
      )
    const nearest = values.nearest === undefined ? undefined : wholeNumber('--nearest', values.nearest)
    const keepsGoing = values['keep-going'] === true
    return checkPart({ since, room: values.room, nearest, jobs, keepsGoing, lists: values.list === true })
  }
  const failed = await failedStep(ALL_STEPS)
  if (failed !== null) {
    process.stdout.write(`FAILED ${failed}, see above\n0 passed, 1 failed\n`)
    return 1
  }
  const files = positionals.length === 0 ? allTestFiles() : positionals
  return (await runTests(files, { jobs, order: 'longest-first' })) ? 0 : 1
}

function wholeNumber(option: string, text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text)
  throw new Error(`Expected a number from 1 to 9999 for ${option}, got '${text}'`)
}

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(
    `check: ${error instanceof Error ? error.message : String(error)}. See npm run check -- --help\n`,
  )
  process.exitCode = 2
}
