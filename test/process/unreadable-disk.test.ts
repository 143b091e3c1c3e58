/**
 * A disk that cannot be read for a while: a node names the file, ends, and changes nothing, so that it starts normally
 * once the disk reads again. A single node, because no other node could restore discarded data.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { ProcessCluster, serverCommand, sha256, temporaryFolder } from '../helpers/process-cluster.ts'

const LOADER = fileURLToPath(new URL('../helpers/disk-faults.ts', import.meta.url))
const STATE = '/state/state-'
/** The unreadable part of the data directory, and its name in the log. */
const PARTS: readonly (readonly [path: string, reported: RegExp])[] = [
  ['/identity.json', /identity/],
  ['/members.json', /members.json cannot be read \(EIO\)/],
  ['/raft/', /raft|log/],
  [STATE, /state[^]*EIO/],
]

t.test('a single node whose disk returns an I/O error at the start', { timeout: 1_800_000 }, async (t) => {
  const faults = join(temporaryFolder(t), 'faults')
  const cluster = await ProcessCluster.start(t, 1, null, {
    launch: (node) => {
      const [program = '', ...args] = serverCommand(node)
      return { command: [program, '--import', LOADER, ...args], env: { HOLDFAST_DISK_FAULTS: faults } }
    },
  })
  await cluster.login('n1')
  const { dataDir, logFile } = cluster.node('n1')
  await cluster.call('n1', 'POST', '/buckets', '{"name":"work"}')
  await cluster.call('n1', 'PUT', '/buckets/work/objects/kept', Buffer.from('kept'))
  await cluster.signal('n1', 'SIGKILL')
  const before = promisesIn(dataDir)
  for (const [part, reported] of PARTS)
    await t.test(`in ${part} is reported, ends the node, and discards nothing`, async (t) => {
      writeFileSync(faults, JSON.stringify({ unreadable: dataDir + part }))
      const from = readFileSync(logFile, 'utf8').length
      cluster.startNode('n1')
      t.equal(await cluster.ended('n1'), 1)
      const text = readFileSync(logFile, 'utf8').slice(from)
      t.match(text, reported)
      t.notMatch(text, /This is a bug/, text)
      t.notOk(readdirSync(join(dataDir, 'state')).includes('DISTRUSTED'))
      // A log that was read and closed cleanly has a new segment.
      if (part !== STATE) t.match(promisesIn(dataDir), before)
    })
  await t.test('starts when it reads again', async (t) => {
    writeFileSync(faults, '{}')
    cluster.startNode('n1')
    await cluster.allReady()
    await cluster.login('n1')
    t.equal((await cluster.call('n1', 'GET', '/buckets/work/objects/kept')).body.toString(), 'kept')
  })
})

/** The members of the cluster, and the votes and entries of the node. The state is not compared: LevelDB writes when it opens. */
function promisesIn(dataDir: string): Readonly<Record<string, string>> {
  const logs = readdirSync(join(dataDir, 'raft')).filter((name) => name.endsWith('.wal'))
  const names = ['members.json', ...logs.map((name) => join('raft', name))]
  return Object.fromEntries(names.map((name) => [name, sha256(readFileSync(join(dataDir, name)))]))
}
