/**
 * The facts that the doctor reads from a real system, and that it leaves nothing behind.
 */
import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { lockDataDir } from '../../../cluster/base/data-lock.ts'
import { listenerTlsFacts, peerTlsFacts } from '../../../src/doctor/certificate-facts.ts'
import { directoryFacts, skipFacts } from '../../../src/doctor/directory-facts.ts'
import { diskFacts, speedFacts } from '../../../src/doctor/disk-facts.ts'
import { machineFacts, softLimit, swapUsed } from '../../../src/doctor/machine-facts.ts'
import { holderOf, nodeFacts } from '../../../src/cli/doctor/node-facts.ts'
import { inspectState } from '../../../src/store/state/state-inspection.ts'
import { PLAIN_STATE_FORMAT, StateDirectory } from '../../../src/store/state/state-directory.ts'
import { temporaryFolder } from '../../helpers/process-cluster.ts'
import { MadeCertificates } from '../../transport/made-certificates.ts'
import { opensslVersion, TestAuthority } from '../../transport/test-certificates.ts'
import { examined, SMALLEST } from '../../config/written-config.ts'

t.test('the sample of the disk speed is bounded and removed, as are leftovers of a killed run', async (t) => {
  const folder = temporaryFolder(t)
  const [old, fresh] = ['.doctor-0123456789ab.tmp', '.doctor-ba9876543210.tmp']
  for (const name of [old, fresh]) writeFileSync(join(folder, name), 'x')
  utimesSync(join(folder, old), 0, 0)
  const { flushesMs, failure } = await speedFacts(folder)
  t.equal(failure, null)
  t.ok(flushesMs.length > 0 && flushesMs.length <= 50)
  t.same(readdirSync(folder), [fresh], 'the file of a concurrent run stays')
  t.match(await speedFacts(join(folder, 'nowhere')), { failure: 'ENOENT', flushesMs: [] })
})

t.test('a disk has a size and a kind', async (t) => {
  const facts = await diskFacts(temporaryFolder(t))
  t.ok(facts.totalBytes >= facts.freeBytes && facts.totalBytes > 0)
  t.ok(facts.filesystem > 0)
})

t.test('a directory that does not exist is judged by the nearest one above', async (t) => {
  const folder = temporaryFolder(t)
  t.match(await directoryFacts(join(folder, 'a', 'b')), { kind: 'nothing', isWritable: true })
  t.notOk(existsSync(join(folder, 'a')), 'and not created')
  t.match(await directoryFacts('/proc/a'), { kind: 'nothing' })
  writeFileSync(join(folder, 'file'), '')
  t.match(await directoryFacts(join(folder, 'file')), { kind: 'other' })
})

t.test(
  'the holder of the lock of a data directory is found without taking the lock',
  { skip: !existsSync('/proc/locks') },
  async (t) => {
    const folder = temporaryFolder(t)
    t.same(await nodeFacts(folder), { kind: 'stopped' })
    const lock = await lockDataDir(folder)
    t.same(await nodeFacts(folder), { kind: 'silent', pid: process.pid, why: 'it has no socket' })
    await lock.release()
    t.same(await nodeFacts(folder), { kind: 'stopped' })
  },
)

t.test('a line of /proc/locks names device and file', async (t) => {
  const { dev } = statSync('/')
  const hex = (number: number): string => number.toString(16).padStart(2, '0')
  const device = `${hex((dev >> 8) & 0xfff)}:${hex((dev & 0xff) | ((dev >> 12) & 0xfff00))}`
  const locks = `1: POSIX  ADVISORY  READ 1 ${device}:9 0 EOF\n2: POSIX  ADVISORY  WRITE 42 ${device}:10 0 EOF\n`
  t.equal(holderOf({ dev, ino: 10 }, locks), 42)
  t.equal(holderOf({ dev, ino: 9 }, locks), null, 'a node does not take a read lock')
  t.equal(holderOf({ dev: dev + 256, ino: 10 }, locks), null, 'the same number on another disk')
})

t.test('entries that are skipped by order of an operator, and a damaged file of them', async (t) => {
  const folder = temporaryFolder(t)
  t.match(skipFacts(folder, 'c'), { skips: [], failure: null })
  writeFileSync(join(folder, 'skipped-entries.json'), '{')
  t.match(skipFacts(folder, 'c'), { skips: [], failure: { code: 'damaged_skips' } })
})

t.test('a state directory is examined and not changed', async (t) => {
  const folder = temporaryFolder(t)
  t.match(await inspectState(join(folder, 'state')), { format: null, fault: null })
  t.notOk(existsSync(join(folder, 'state')))
  const directory = new StateDirectory(folder)
  mkdirSync(directory.locationOf('state-1'))
  t.match(await inspectState(folder), { fault: /CURRENT is missing/ })
  await directory.makeCurrent('state-1')
  t.match(await inspectState(folder), {
    format: PLAIN_STATE_FORMAT,
    known: PLAIN_STATE_FORMAT,
    fault: null,
    quarantined: null,
  })
  await directory.quarantine('a sum is wrong')
  t.match(await inspectState(folder), { quarantined: 'a sum is wrong' })
  writeFileSync(join(folder, 'CURRENT'), 'state-1 00000000\n')
  t.match(await inspectState(folder), { fault: /CURRENT in .* is damaged/ })
})

t.test('limits and memory are read as Linux writes them', async (t) => {
  const limits =
    'Max core file size        0                    unlimited            bytes     \nMax open files            1024                 4096                 files     \n'
  t.equal(softLimit(limits, 'Max open files'), 1024)
  t.equal(softLimit(limits, 'Max core file size'), 0)
  t.equal(
    softLimit(limits.replace('size        0 ', 'size        unlimited '), 'Max core file size'),
    Number.MAX_SAFE_INTEGER,
  )
  t.equal(softLimit('', 'Max open files'), null)
  t.equal(swapUsed('SwapTotal:  2048 kB\nSwapFree:  1024 kB\n'), 1024 * 1024)
  t.equal(swapUsed(''), null)
  t.match(await machineFacts(null), { whose: 'this command', nodeVersion: process.versions.node })
  t.match(await machineFacts(process.pid), { whose: 'the node' })
})

t.test(
  'certificates are compared with the node, the authority and the key',
  { skip: opensslVersion() === null },
  async (t) => {
    const authority = new TestAuthority(t, 'cluster')
    const { config } = examined(t, SMALLEST)
    t.ok(config)
    if (config === null) return
    t.same(await peerTlsFacts(config), { isLoopbackOnly: true, files: null })
    t.match(await peerTlsFacts({ ...config, listeners: { ...config.listeners, peer: '10.0.0.1:9002' } }), {
      isLoopbackOnly: false,
    })
    const own = authority.issue({ commonName: 'n1' })
    const other = authority.issue({ commonName: 'n2' })
    t.match((await peerTlsFacts({ ...config, peerTls: own })).files, {
      unusable: [],
      namesNode: true,
      isSignedByCa: true,
      keyFits: true,
    })
    const mixed = { ca: new TestAuthority(t, 'another').ca, cert: other.cert, key: own.key }
    t.match((await peerTlsFacts({ ...config, peerTls: mixed })).files, {
      namesNode: false,
      isSignedByCa: false,
      keyFits: false,
    })
    const missing = { ...own, ca: join(own.ca, '..', 'no.pem'), key: own.cert }
    t.match((await peerTlsFacts({ ...config, peerTls: missing })).files?.unusable, [
      /peer_tls\.ca .*ENOENT/,
      /peer_tls\.key/,
    ])
  },
)

t.test('the authorities of clients are read from one file', async (t) => {
  const folder = temporaryFolder(t)
  const [nodes, clients] = [new MadeCertificates(t), new MadeCertificates(t, 'clients')]
  const pair = nodes.issue('n1')
  const leaf = clients.pair('ci').certificate
  const file = join(folder, 'clients.pem')
  const factsOf = async (text: string) => {
    writeFileSync(file, text)
    const dataTls = { cert: pair.cert, key: pair.key, clients: { ca: file, areRequired: false } }
    const [facts] = await listenerTlsFacts({ dataTls, adminTls: null, peerTls: pair })
    return facts
  }
  t.match(await factsOf(`clients:\n${clients.caText}${nodes.caText}\n${leaf}`), {
    unusable: [],
    clients: {
      certificates: [
        { isAuthority: true, signsNodes: false, setting: 'data_tls.client_ca' },
        { isAuthority: true, signsNodes: true },
        { isAuthority: false, signsNodes: false },
      ],
    },
  })
  t.match(await factsOf('nothing'), { unusable: [], clients: { certificates: [] } })
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
  t.match(await factsOf(broken), { unusable: [/^data_tls\.client_ca .* cannot be used/], clients: null })
  const dataTls = { cert: pair.cert, key: pair.key, clients: { ca: join(folder, 'gone'), areRequired: true } }
  const [gone] = await listenerTlsFacts({ dataTls, adminTls: null, peerTls: null })
  t.match(gone, { unusable: [/^data_tls\.client_ca .* cannot be used: ENOENT/], clients: null })
  const [none] = await listenerTlsFacts({ dataTls: pair, adminTls: null, peerTls: null })
  t.match(none, { clients: null })
})
