/**
 * The public suite as processes of pytest, each at its own node and with tenants of its own.
 *
 * Owns: the configuration file that the suite reads, and the lines that suite_plugin.py writes. Knows nothing of: which tests are wanted.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { endsWithParent } from '../../helpers/ends-with-parent.ts'
import type { CollectedTest } from './exclusions.ts'

const FILES = ['s3tests/functional/test_s3.py', 's3tests/functional/test_headers.py']
/** Of one test. */
const SECONDS_MAX = 300

export interface Caller {
  readonly tenantId: string
  readonly accessKeyId: string
  readonly secretKey: string
}

export interface Callers {
  readonly main: Caller
  readonly alt: Caller
  readonly tenant: Caller
}

export interface Suite {
  /** Where the suite is. */
  readonly folder: string
  readonly python: string
  /** For files of the run. */
  readonly work: string
}

export interface TestOutcome {
  readonly name: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
  /** Empty when it passed. */
  readonly why: string
  readonly seconds: number
}

interface Shard {
  readonly name: string
  readonly dataUrl: string
  readonly callers: Callers
}

interface Line extends TestOutcome {
  readonly when: 'setup' | 'call' | 'teardown'
}

function configuration({ dataUrl, callers }: Shard): string {
  const { hostname, port } = new URL(dataUrl)
  const section = (name: string, { tenantId, accessKeyId, secretKey }: Caller, more = ''): string =>
    [
      `[${name}]`,
      `display_name = ${tenantId}`,
      `user_id = ${tenantId}`,
      `email = ${tenantId}@example.com`,
      `access_key = ${accessKeyId}`,
      `secret_key = ${secretKey}`,
      more,
      '',
    ].join('\n')
  const { main, alt, tenant } = callers
  return [
    `[DEFAULT]\nhost = ${hostname}\nport = ${port}\nis_secure = False\nssl_verify = False\n`,
    '[fixtures]\nbucket prefix = conformance-{random}-\n',
    // Without the name of a region: S3 reports none for us-east-1.
    section('s3 main', main, 'api_name ='),
    section('s3 alt', alt),
    section('s3 tenant', tenant, `tenant = ${tenant.tenantId}`),
    section('iam', main),
    section('iam root', main),
    section('iam alt root', alt),
  ].join('\n')
}

/** Throws when pytest cannot collect them. */
export async function collectTests(suite: Suite, shard: Shard): Promise<readonly CollectedTest[]> {
  const { lines, errors } = await pytest(suite, shard, null)
  if (lines.length === 0) throw new Error(`pytest collected no test in ${suite.folder}:\n${errors}`)
  return lines.map((line) => JSON.parse(line) as CollectedTest)
}

/** An outcome for each name. */
export async function runTests(
  suite: Suite,
  shard: Shard,
  names: readonly string[],
): Promise<readonly TestOutcome[]> {
  const { lines, errors } = await pytest(suite, shard, names)
  const outcomes = new Map<string, TestOutcome>()
  for (const line of lines) {
    const { name, outcome, why, seconds, when } = JSON.parse(line) as Line
    // A test that passed and could not be cleaned up has failed.
    if (outcomes.get(name)?.outcome !== 'failed')
      outcomes.set(name, { name, outcome, why: when === 'call' ? why : `${when}: ${why}`, seconds })
  }
  const missing = {
    outcome: 'failed' as const,
    why: `pytest did not run it: ${errors.slice(-500)}`,
    seconds: 0,
  }
  return names.map((name) => outcomes.get(name) ?? { name, ...missing })
}

/** `names` null: the lines are the collected tests. */
async function pytest(suite: Suite, shard: Shard, names: readonly string[] | null) {
  const file = (ending: string): string => join(suite.work, `${shard.name}.${ending}`)
  writeFileSync(file('conf'), configuration(shard), { mode: 0o600 })
  writeFileSync(file('lines'), '')
  const given = { names, lines: file('lines'), seconds: SECONDS_MAX }
  const options = ['-p', 'suite_plugin', '-p', 'no:cacheprovider', '-q', '--tb=short', '--no-header']
  const [program = '', ...args] = endsWithParent('KILL', [suite.python, '-m', 'pytest', ...options, ...FILES])
  const child = spawn(program, args, {
    cwd: suite.folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      S3TEST_CONF: file('conf'),
      S3_CONFORMANCE: JSON.stringify(given),
      PYTHONPATH: [import.meta.dirname, suite.folder].join(delimiter),
      PYTHONDONTWRITEBYTECODE: '1',
      AWS_EC2_METADATA_DISABLED: 'true',
    },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-2_000_000)))
  await once(child, 'close')
  writeFileSync(file('log'), output)
  const lines = readFileSync(file('lines'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
  return { lines, errors: output.slice(-3000) }
}
