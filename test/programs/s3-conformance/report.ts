/**
 * The published page: how many tests of the suite passed, and each that failed with its explanation.
 */
import { type CollectedTest, EXCLUSIONS, exclusionOf } from './exclusions.ts'
import { EXPLANATIONS, explanationOf } from './explanations.ts'
import type { TestOutcome } from './suite-run.ts'

export interface ConformanceRun {
  /** The commit of the suite. */
  readonly suite: string
  readonly version: string
  readonly collected: readonly CollectedTest[]
  readonly outcomes: readonly TestOutcome[]
}

const UNEXPLAINED = '**not explained yet**'
const WHY_CHARACTERS = 160

/** Texts of explanations that no failed test needs. */
export function staleExplanations(outcomes: readonly TestOutcome[]): readonly string[] {
  const failed = outcomes.filter(({ outcome }) => outcome === 'failed')
  return EXPLANATIONS.filter((row) => !failed.some(({ name }) => explanationOf(name) === row)).map(
    ({ reason }) => reason,
  )
}

export function conformancePage({ suite, version, collected, outcomes }: ConformanceRun): string {
  const of = (wanted: TestOutcome['outcome']) => outcomes.filter(({ outcome }) => outcome === wanted)
  const [passed, failed, skipped] = [of('passed'), of('failed'), of('skipped')]
  const unexplained = failed.filter(({ name }) => explanationOf(name) === undefined)
  const ran = outcomes.length - skipped.length
  const share = ((100 * passed.length) / Math.max(1, ran)).toFixed(1)
  return [
    `# A public conformance suite for S3 at Holdfast ${version}`,
    '',
    `The suite is [ceph/s3-tests](https://github.com/ceph/s3-tests) (MIT) at ${suite}, its files test_s3.py and test_headers.py, run by`,
    '`npm run s3-conformance -- --suite DIR`: three nodes, one process of pytest at each, every process with three tenants of its own.',
    '',
    `**${passed.length} of the ${ran} tests in scope that run pass (${share} %).** ${failed.length} fail, ${unexplained.length} of them unexplained.`,
    `Of all ${collected.length} tests, ${collected.length - outcomes.length} are out of scope, and the suite itself skips ${skipped.length}.`,
    '',
    '## Failed',
    '',
    '| tests | what is different here | which |',
    '|---|---|---|',
    ...failedRows(failed),
    '',
    ...(skipped.length === 0 ? [] : ['## Skipped by the suite', '', ...skipped.map(skippedRow), '']),
    '## Out of scope',
    '',
    '| subject | tests | reason |',
    '|---|---|---|',
    ...EXCLUSIONS.map((row) => {
      const count = collected.filter((test) => exclusionOf(test) === row).length
      return `| ${row.subject} | ${count} | ${row.reason} |`
    }),
    '',
    '## Passed',
    '',
    passed.map(({ name }) => `\`${name}\``).join(', '),
    '',
  ].join('\n')
}

function failedRows(failed: readonly TestOutcome[]): readonly string[] {
  const explained = EXPLANATIONS.flatMap((row) => {
    const names = failed.filter(({ name }) => explanationOf(name) === row).map(({ name }) => `\`${name}\``)
    return names.length === 0 ? [] : [`| ${names.length} | ${row.reason} | ${names.join(', ')} |`]
  })
  const others = failed
    .filter(({ name }) => explanationOf(name) === undefined)
    .map(({ name, why }) => `| 1 | ${UNEXPLAINED}: ${inCell(why)} | \`${name}\` |`)
  return [...explained, ...others]
}

const skippedRow = ({ name, why }: TestOutcome): string => `- \`${name}\`: ${inCell(why)}`

const inCell = (text: string): string =>
  text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').slice(0, WHY_CHARACTERS)
