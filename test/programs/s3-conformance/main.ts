/**
 * `npm run s3-conformance -- --suite DIR [--python PROGRAM] [--only PATTERN] [--page FILE] [--lines FILE]`: ceph's public suite for S3
 * against three real nodes.
 *
 * Owns: the cluster, its tenants, the choice of tests, exit code 1 for a failure that is not explained. Knows nothing of: what a test does.
 * Rules: it fetches nothing, neither the suite nor its packages. Where one is absent, the run is skipped and says so.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { VERSION } from '../../../src/base/version.ts'
import { type AdminClient, adminClient } from '../../../src/client/clients.ts'
import { ProcessCluster, temporaryFolder } from '../../helpers/process-cluster.ts'
import { exclusionOf } from './exclusions.ts'
import { explanationOf } from './explanations.ts'
import { conformancePage, staleExplanations } from './report.ts'
import {
  type Caller,
  type Callers,
  collectTests,
  runTests,
  type Suite,
  type TestOutcome,
} from './suite-run.ts'

const USAGE = `npm run s3-conformance -- --suite DIR [--python PROGRAM] [--only PATTERN] [--page FILE] [--lines FILE]

  --suite DIR       a checkout of https://github.com/ceph/s3-tests
  --python PROGRAM  a Python that has its requirements.txt (default: python3)
  --only PATTERN    only tests with such names, a regular expression; those out of scope as well
  --page FILE       write the page of results
  --lines FILE      write each outcome as a line of JSON
`

const NODES = 3
/** The suite sends many wrong signatures and many requests. */
const SETTINGS = [
  'limits:',
  '  admin_requests_per_minute: 100000',
  '  admin_requests_burst: 10000',
  '  unproved_requests_per_minute: 1000000',
  '  unproved_burst: 1000000',
  '',
].join('\n')

interface Options {
  readonly suite: string
  readonly python: string
  readonly only: string | undefined
  readonly page: string | undefined
  readonly lines: string | undefined
}

const say = (text: string): void => void process.stderr.write(`${text}\n`)

/** Why the suite cannot run; null: it can. */
function absence({ suite, python }: Pick<Options, 'suite' | 'python'>): string | null {
  if (!existsSync(join(suite, 's3tests', 'functional', 'test_s3.py')))
    return `there is no suite in '${suite}': clone https://github.com/ceph/s3-tests and name the folder with --suite`
  const { status } = spawnSync(python, ['-c', 'import boto3, pytest, munch, lxml, isodate, httplib2, pytz'])
  return status === 0
    ? null
    : `'${python}' does not have what ${suite}/requirements.txt names: name another one with --python`
}

async function caller(admin: AdminClient, tenantId: string): Promise<Caller> {
  await admin.call('createTenant', { body: { id: tenantId, name: tenantId } })
  const body = { scopes: 'read,write,delete,admin' }
  const { answer } = await admin.call('createTenantKey', { params: { id: tenantId }, body })
  return { tenantId, accessKeyId: answer.accessKeyId, secretKey: answer.secretKey }
}

async function callers(admin: AdminClient, shard: string): Promise<Callers> {
  return {
    main: await caller(admin, `main-${shard}`),
    alt: await caller(admin, `alt-${shard}`),
    tenant: await caller(admin, `tenant-${shard}`),
  }
}

async function judge(
  cluster: ProcessCluster,
  suite: Suite,
  options: Options,
): Promise<readonly TestOutcome[]> {
  const admin = adminClient({ endpoints: [cluster.node('n1').adminUrl], token: cluster.setup.ownerToken })
  const shards = []
  for (const { nodeId: name, dataUrl } of cluster.plan)
    shards.push({ name, dataUrl, callers: await callers(admin, name) })
  await admin.close()
  const [first] = shards
  if (first === undefined) return []
  const collected = await collectTests(suite, first)
  const pattern = new RegExp(options.only ?? '')
  const wanted = collected
    .filter((test) =>
      options.only === undefined ? exclusionOf(test) === undefined : pattern.test(test.name),
    )
    .map(({ name }) => name)
  say(`${collected.length} tests collected, ${wanted.length} run`)
  const runs = shards.map((shard, n) =>
    runTests(
      suite,
      shard,
      wanted.filter((_, at) => at % NODES === n),
    ),
  )
  const outcomes = (await Promise.all(runs)).flat()
  if (options.page !== undefined) {
    const { stdout } = spawnSync('git', ['-C', suite.folder, 'rev-parse', '--short=12', 'HEAD'], {
      encoding: 'utf8',
    })
    writeFileSync(
      options.page,
      conformancePage({ suite: stdout.trim(), version: VERSION, collected, outcomes }),
    )
  }
  return outcomes
}

function report(outcomes: readonly TestOutcome[], isWhole: boolean): boolean {
  const failed = outcomes.filter(({ outcome }) => outcome === 'failed')
  const unexplained = failed.filter(({ name }) => explanationOf(name) === undefined)
  for (const { name, why } of unexplained) say(`not ok ${name}\n    ${why.replaceAll('\n', '\n    ')}`)
  const stale = isWhole ? staleExplanations(outcomes) : []
  for (const reason of stale) say(`no failed test needs the explanation: ${reason}`)
  const passed = outcomes.filter(({ outcome }) => outcome === 'passed').length
  process.stdout.write(
    `${passed} of ${outcomes.length} passed, ${failed.length} failed, ${unexplained.length} unexplained\n`,
  )
  return unexplained.length === 0 && stale.length === 0
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      suite: { type: 'string', default: 's3-tests' },
      python: { type: 'string', default: 'python3' },
      only: { type: 'string' },
      page: { type: 'string' },
      lines: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(USAGE)
    return 0
  }
  const options = {
    ...values,
    suite: resolve(values.suite),
    only: values.only,
    page: values.page,
    lines: values.lines,
  }
  const why = absence(options)
  if (why !== null) {
    process.stdout.write(`skipped: ${why}\n`)
    return 0
  }
  const ends: (() => unknown)[] = []
  const t = { teardown: (end: () => unknown) => ends.unshift(end) }
  try {
    const cluster = await ProcessCluster.start(t, NODES, SETTINGS)
    const work = temporaryFolder(t)
    const outcomes = await judge(cluster, { folder: options.suite, python: options.python, work }, options)
    if (options.lines !== undefined)
      writeFileSync(options.lines, outcomes.map((outcome) => `${JSON.stringify(outcome)}\n`).join(''))
    return report(outcomes, options.only === undefined) ? 0 : 1
  } finally {
    for (const end of ends) await end()
  }
}

process.exitCode = await main()
