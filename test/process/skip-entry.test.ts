/**
 * Three nodes that stop at an entry that none of them can apply, brought back with deploy/runbooks/skip-entry.md.
 *
 * Rule: the entries before and after it stay, its commands have no effect anywhere, and a node without the plan reports it.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { findIdentity } from '../../cluster/directory/identity.ts'
import { encodeCommandEntry } from '../../cluster/node/base/log-entry.ts'
import { MasterKey } from '../../src/access/master-key.ts'
import { readSignedFile, signFile } from '../../src/quorum-recovery/signed-file.ts'
import type { SkipPlan } from '../../src/quorum-recovery/skip-files.ts'
import { encodeCommand } from '../../src/commands/command-codec.ts'
import { until } from '../helpers/async.ts'
import { poison } from '../helpers/poisoned-log.ts'
import { ProcessCluster, sha256, temporaryFolder } from '../helpers/process-cluster.ts'
import { RecoverLines } from '../helpers/recover-lines.ts'
import { runCommand } from '../helpers/run-command.ts'

const RUNBOOK = new RecoverLines('skip-entry.md')
const NODES = ['n1', 'n2', 'n3']
const OBJECTS = 8
/** Of chunks. */
const OBJECT_BYTES = 6_000

t.test('an entry that no node can apply', { timeout: 1_800_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, NODES.length)
  const configOf = (nodeId: string): string => cluster.node(nodeId).configFile
  const folderOf = (nodeId: string): string => join(dirname(configOf(nodeId)), nodeId)
  const logOf = (nodeId: string): string => readFileSync(cluster.node(nodeId).logFile, 'utf8')
  await cluster.login('n1')
  t.equal((await cluster.call('n1', 'POST', '/buckets', JSON.stringify({ name: 'kept' }))).status, 201)
  const written = new Map<string, string>()
  const put = async (at: string, name: string): Promise<void> => {
    const body = Buffer.alloc(OBJECT_BYTES, `${name} `)
    const { status } = await cluster.ask(at, { method: 'PUT', path: `/buckets/kept/objects/${name}`, body })
    if (status >= 300) throw new Error(`${name}: ${status}`)
    written.set(name, sha256(body))
  }
  for (let n = 0; n < OBJECTS; n++) await put(NODES[n % 3] ?? '', `before-${n}`)
  for (const nodeId of NODES) await cluster.signal(nodeId, 'SIGTERM')

  const identity = await findIdentity(folderOf('n2'))
  if (identity === null) throw new Error('n2 has an identity')
  const { incarnation, boot } = identity
  const command = encodeCommand({ type: 'ofNoVersion', origin: { requestId: 'req_1' } } as never)
  const proposal = { nodeId: 'n2', incarnation, boot, sequence: 8_000, ackedBelow: 0, command }
  const data = encodeCommandEntry({ time: Date.now(), proposals: [proposal] })
  const { index, term } = await poison(NODES.map(folderOf), data, { behind: [folderOf('n3')] })

  // The node that commits it first ends first; the other one may have no leader then.
  for (const nodeId of ['n1', 'n2']) cluster.startNode(nodeId)
  await until('a node ends at the entry', async () =>
    ['n1', 'n2'].some((nodeId) => !cluster.isRunning(nodeId)),
  )
  const [ended = '', ...running] = ['n1', 'n2'].toSorted(
    (one, other) => Number(cluster.isRunning(one)) - Number(cluster.isRunning(other)),
  )
  for (const nodeId of running) if (cluster.isRunning(nodeId)) await cluster.signal(nodeId, 'SIGTERM')
  const printed = logOf(ended)
    .split('\n')
    .filter((line) => !line.startsWith('{') && line !== '')
  t.match(
    printed[0],
    `error: Node ${ended} stops: it cannot apply entry ${index} of term ${term} (command, digest `,
  )
  t.match(printed[1], /keep it\. .* follow deploy\/runbooks\/skip-entry\.md\.$/)
  t.equal(printed.length, 2, 'no stack')
  t.match(logOf(ended), /"code":"apply_failed"/)
  t.match(logOf(ended), /ofNoVersion.*\\n +at /, 'the stack is in the log')

  const recoveryFiles = temporaryFolder(t)
  const plan = join(recoveryFiles, 'skip.json')
  const tokenFile = join(recoveryFiles, 'token')
  writeFileSync(tokenFile, cluster.setup.ownerToken)
  const asked = async (line: string): Promise<string> => {
    const access = ['--admin-endpoint', cluster.node('n2').adminUrl, '--token-file', tokenFile]
    const { code, out, err } = await runCommand(...RUNBOOK.asked(line), ...access)
    if (code !== 0) throw new Error(err)
    return out
  }
  const typed = (nodeId: string, step: string, having?: string): readonly string[] =>
    RUNBOOK.words(
      `skip-entry ${step}`,
      { config: configOf(nodeId), reports: recoveryFiles, plan, index },
      having,
    )
  for (const nodeId of ['n1', 'n2']) t.equal((await runCommand(...typed(nodeId, 'collect'))).code, 0)
  const forQuorum = await runCommand('recover', 'collect', '--config', configOf('n1'), '--out', recoveryFiles)
  t.equal(forQuorum.code, 0, 'for a lost quorum the entries before it are counted')
  t.match(forQuorum.err, `Entry ${index} cannot be applied, and the entries after it are not counted`)
  const short = await runCommand(...typed('n1', 'plan'), '--json')
  t.equal(short.code, 3)
  t.match(JSON.parse(short.out), { refusals: [{ code: 'unaccounted_voter', message: /^n3 / }] })
  t.equal((await runCommand(...typed('n3', 'collect'))).code, 0)
  const looked = await runCommand(...typed('n1', 'plan'))
  t.equal(looked.code, 0, looked.err)
  t.match(looked.out, /It contains 1 commands, and none of them takes effect: ofNoVersion \(req_1\)/)
  t.match(looked.out, /n1, n2 hold it.*\nThe logs of n3 end before it\.\n/)
  t.notOk(existsSync(plan), 'nothing is written before the plan is accepted')
  t.equal((await runCommand(...typed('n1', 'plan', '--out'))).code, 0)
  const masterKey = await MasterKey.load(join(dirname(configOf('n1')), 'master.key'))
  const foreign = { ...(await readSignedFile<SkipPlan>(masterKey, 'skip-plan', plan)), clusterId: 'another' }
  const foreignFile = join(recoveryFiles, 'foreign.json')
  writeFileSync(foreignFile, signFile(masterKey, 'skip-plan', foreign))
  const refused = await runCommand(
    ...typed('n1', 'apply').map((word) => (word === plan ? foreignFile : word)),
  )
  t.equal(refused.code, 3)
  t.match(refused.err, /is for cluster "another"/)
  const unconfirmed = await runCommand(...typed('n1', 'apply').slice(0, -1), '1')
  t.equal(unconfirmed.code, 3)
  t.match(unconfirmed.err, `repeat the command with --confirm ${index}`)
  t.notOk(existsSync(join(folderOf('n1'), 'skipped-entries.json')))
  for (const nodeId of ['n1', 'n2', 'n1']) {
    const { code, err } = await runCommand(...typed(nodeId, 'apply'))
    t.equal(code, 0, err)
  }
  for (const nodeId of ['n1', 'n2']) cluster.startNode(nodeId)
  await until('two serve', async () => (await cluster.ready('n1')) && (await cluster.ready('n2')))

  await t.test('a node without the plan ends at the entry, and comes back by the same plan', async (t) => {
    cluster.startNode('n3')
    await until('n3 ends', async () => !cluster.isRunning('n3'))
    t.match(logOf('n3'), `error: Node n3 stops: it cannot apply entry ${index} of term ${term}`)
    const { code, err } = await runCommand(...typed('n3', 'apply'))
    t.equal(code, 0, err)
    cluster.startNode('n3')
    await cluster.allReady()
  })

  await t.test('only the entry is gone, and the states are equal', async (t) => {
    await cluster.login('n1')
    await put('n2', 'after')
    for (const nodeId of NODES) {
      for (const [name, digest] of written) {
        const { body } = await cluster.call(nodeId, 'GET', `/buckets/kept/objects/${name}`)
        t.equal(sha256(body), digest, `${name} at ${nodeId}`)
      }
    }
    await until('members answer with equal states', async () => {
      const { members } = JSON.parse(await asked('cluster status')) as {
        members: readonly { stateEqual: boolean | null }[]
      }
      t.notOk(members.some(({ stateEqual }) => stateEqual === false))
      return members.every(({ stateEqual }) => stateEqual === true)
    })
  })

  await t.test('the audit log has one row about it', async (t) => {
    const records = (await asked('audit query'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as object)
    t.match(records, [
      {
        operation: 'skipEntry',
        reason: 'issue-4711',
        details: {
          entryIndex: index,
          entryTerm: term,
          why: /ofNoVersion/,
          carried: [{ type: 'ofNoVersion', requestId: 'req_1' }],
        },
      },
    ])
    t.equal(records.length, 1)
  })
})
