/**
 * The judgements of the doctor: every warning and error, and the limits at which they begin.
 */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { DISK_THRESHOLDS } from '../../../cluster/base/disk-level.ts'
import { checkAudit } from '../../../src/doctor/audit-checks.ts'
import type { ListenerTlsFacts, PeerTlsFacts } from '../../../src/doctor/certificate-checks.ts'
import { checkListenerTls, checkPeerTls } from '../../../src/doctor/certificate-checks.ts'
import {
  checkDirectory,
  checkIdentity,
  checkSkips,
  checkStateFormat,
} from '../../../src/doctor/directory-checks.ts'
import { checkFilesystem, checkSpace, checkSpeed } from '../../../src/doctor/disk-checks.ts'
import type { Finding } from '../../../src/doctor/finding.ts'
import { checkKey, checkKeyFile } from '../../../src/doctor/key-checks.ts'
import { checkMachine, type MachineFacts, NODE_VERSION_MIN } from '../../../src/doctor/machine-checks.ts'
import {
  checkClock,
  checkListener,
  checkPeer,
  type PeerFacts,
} from '../../../src/cli/doctor/network-checks.ts'
import { checkNode } from '../../../src/doctor/node-checks.ts'
import { checkWebhookTargets } from '../../../src/doctor/webhook-checks.ts'

/** `severity: found`, in their order. */
const texts = (findings: Finding | readonly Finding[]): readonly string[] =>
  [findings].flat().map(({ severity, found }) => `${severity}: ${found}`)

const DAY = 86_400_000
const NOW = Date.UTC(2026, 10, 22)

t.test('the data directory', async (t) => {
  const facts = { path: '/d', kind: 'directory', mode: 0o700, isOwn: true, isWritable: true } as const
  t.same(texts(checkDirectory(facts)), ['ok: /d has mode 700'])
  t.match(texts(checkDirectory({ ...facts, mode: 0o720 })), [/^error: .*720: other users can put files/])
  t.match(texts(checkDirectory({ ...facts, mode: 0o702 })), [/^error/])
  t.match(texts(checkDirectory({ ...facts, mode: 0o755, isOwn: false })), [
    /^warning: .*can read it/,
    /^warning: .*another user/,
  ])
  t.match(texts(checkDirectory({ ...facts, mode: 0o500 })), [/^error: .*cannot read and write/])
  t.match(texts(checkDirectory({ ...facts, isWritable: false })), [/^error/])
  t.match(texts(checkDirectory({ ...facts, kind: 'other' })), [/^error: .*not a directory/])
  t.match(texts(checkDirectory({ ...facts, kind: 'unreachable', isWritable: false })), [/^error/])
  t.match(texts(checkDirectory({ ...facts, kind: 'nothing' })), [/^ok: .*first start/])
  t.match(texts(checkDirectory({ ...facts, kind: 'nothing', isWritable: false })), [
    /^error: .*cannot create it/,
  ])
})

t.test(
  'the identity of the data: a foreign cluster and a foreign node are reported separately',
  async (t) => {
    const expected = { clusterId: 'ours', nodeId: 'n1' }
    const identity = {
      clusterId: 'theirs',
      nodeId: 'n2',
      incarnation: 'i',
      fingerprint: 'f',
      boot: 3,
      before: null,
    }
    const facts = { identity, failure: null, removalNotice: null, expected }
    t.match(texts(checkIdentity(facts)), [/foreign_cluster/, /foreign_node/])
    t.match(texts(checkIdentity({ ...facts, identity: null })), [/^ok/])
    const failure = { code: 'identity_missing', message: 'contains raft', hint: 'Restore it' }
    t.match(checkIdentity({ ...facts, identity: null, failure }), [
      { severity: 'error', action: 'Restore it' },
    ])
    const own = { ...identity, clusterId: 'ours', nodeId: 'n1' }
    t.match(texts(checkIdentity({ ...facts, identity: own })), [/^ok/])
    t.match(checkIdentity({ ...facts, identity: own, removalNotice: 'Node n1 was removed' }), [
      { severity: 'error', found: 'Node n1 was removed', action: /keep the directory/ },
    ])
  },
)

t.test('entries that are skipped by order of an operator', async (t) => {
  const skips = [{ planId: 'sp_1', index: 11, term: 4 }]
  t.match(texts(checkSkips({ skips: [], failure: null })), [/^ok: no entry/])
  t.match(texts(checkSkips({ skips, failure: null })), [/^ok: .*entry 11 of term 4 \(sp_1\)/])
  const failure = { code: 'damaged_skips', message: 'Cannot start: it is torn', hint: 'Copy it' }
  t.match(checkSkips({ skips: [], failure }), [
    { severity: 'error', found: 'it is torn (damaged_skips)', action: 'Copy it' },
  ])
})

t.test('the format of the state, and whether it is quarantined', async (t) => {
  const facts = { format: 4, known: 4, fault: null, quarantined: null }
  t.match(texts(checkStateFormat(facts)), [/^ok/])
  t.match(texts(checkStateFormat({ ...facts, format: null })), [/^ok: there is no state/])
  t.match(texts(checkStateFormat({ ...facts, format: 5 })), [/^error: .*of a newer build/])
  t.match(checkStateFormat({ ...facts, format: 3 }), [
    { found: /format 3 \(state/, action: /build that wrote it/ },
  ])
  t.match(texts(checkStateFormat({ ...facts, fault: 'CURRENT is damaged' })), [/^error: CURRENT/])
  t.match(texts(checkStateFormat({ ...facts, quarantined: 'a sum is wrong' })), [
    /^warning: .*a sum is wrong/,
  ])
})

t.test('the master key of the directory and of the cluster', async (t) => {
  const [a, b] = ['a'.repeat(64), 'b'.repeat(64)]
  t.match(texts(checkKey({ inFile: [a], inDirectory: null, inCluster: null })), [/^ok: there is no data/])
  t.match(
    texts(checkKey({ inFile: [b, a], inDirectory: a, inCluster: a })),
    [/^ok/],
    'in the middle of a rotation',
  )
  t.match(texts(checkKey({ inFile: [b], inDirectory: a, inCluster: null })), [/^error: .*wrong_fingerprint/])
  t.match(texts(checkKey({ inFile: [b], inDirectory: b, inCluster: a })), [/^error: .*wrong_master_key/])
  t.same(checkKey({ inFile: null, inDirectory: a, inCluster: a }), [], 'another check reports the file')
  const failure = { code: 'master_key_missing', message: 'Cannot read', hint: 'Copy it' }
  t.match(checkKeyFile({ path: '/k', fingerprints: null, failure }), { severity: 'error', action: 'Copy it' })
})

t.test('the free space of a disk', async (t) => {
  const thresholds = DISK_THRESHOLDS
  const facts = { path: '/d', totalBytes: 1000, freeBytes: 500, totalFiles: 0, freeFiles: 0, filesystem: 0 }
  for (const [freeBytes, severity] of [
    [151, 'ok'],
    [150, 'warning'],
    [80, 'error'],
    [0, 'error'],
  ] as const)
    t.match(checkSpace({ ...facts, freeBytes }, thresholds), [{ severity }], `${freeBytes} of 1000`)
  const large = { ...facts, totalBytes: 4000 * 1024 ** 3, freeBytes: 20 * 1024 ** 3 }
  const expected =
    /less than disk\.stop_writing \(92%\) used, or at least disk\.stop_writing_free \(30\.0 GiB\) free/
  t.match(checkSpace(large, thresholds), [{ severity: 'error', expected }])
  const roomier = { ...large, freeBytes: 30 * 1024 ** 3 }
  t.match(checkSpace(roomier, thresholds), [{ severity: 'warning', expected: /stop_placing_free/ }])
  t.match(texts(checkSpace({ ...large, freeBytes: 60 * 1024 ** 3 }, thresholds)), [/^ok: 98\.5%/])
  t.match(texts(checkSpace({ ...facts, totalFiles: 100, freeFiles: 4 }, thresholds)), [
    /^warning: 4 more files/,
  ])
  t.match(texts(checkSpace({ ...facts, totalFiles: 100, freeFiles: 0 }, thresholds)), [/^error/])
})

t.test('the speed of a disk: neither slow nor too good to be true', async (t) => {
  const of = (...flushesMs: readonly number[]) =>
    texts(checkSpeed({ path: '/d', flushesMs, failure: null }, 1000))
  t.match(of(1, 2, 30), [/^ok: .*2\.0 ms \(median\), 30\.0 ms at worst, of 3/])
  t.match(of(0.002, 0.003, 0.2), [/^warning: .*0\.003 ms/])
  t.match(of(60, 61, 62), [/^warning/])
  t.match(of(1, 1, 1000), [/^warning/], 'one as long as an election timeout')
  t.match(texts(checkSpeed({ path: '/d', flushesMs: [], failure: 'EROFS' }, 1000)), [/^error: .*EROFS/])
})

t.test('the kind of file system', async (t) => {
  t.match(texts(checkFilesystem({ path: '/d', filesystem: 0xef53 })), [/^ok: .*ext4/])
  t.match(texts(checkFilesystem({ path: '/d', filesystem: 0x01021994 })), [/^warning: .*tmpfs/])
  t.match(texts(checkFilesystem({ path: '/d', filesystem: 0x794c7630 })), [/^warning: .*overlayfs/])
  t.match(texts(checkFilesystem({ path: '/d', filesystem: 0x6969 })), [/^warning: .*nfs/])
  t.match(
    texts(checkFilesystem({ path: '/d', filesystem: 0x1234 })),
    [/^ok: .*0x1234/],
    'an unknown kind is no problem',
  )
})

t.test('certificates of the traffic between nodes', async (t) => {
  const certificate = { setting: 'peer_tls.cert', path: '/c', validFrom: NOW - DAY, validTo: NOW + 31 * DAY }
  const files: NonNullable<PeerTlsFacts['files']> = {
    unusable: [],
    certificates: [certificate],
    namesNode: true,
    isSignedByCa: true,
    keyFits: true,
    keyMode: 0o600,
    keyPath: '/k',
  }
  const of = (change: Partial<typeof files>) =>
    texts(checkPeerTls({ isLoopbackOnly: false, files: { ...files, ...change } }, 'n1', NOW))
  const until = (validTo: number) => of({ certificates: [{ ...certificate, validTo }] })
  t.match(of({}), [/^ok/])
  t.match(until(NOW + 30 * DAY), [/^ok/])
  t.match(until(NOW + 30 * DAY - 1), [/^warning: .*expires in 29 days/])
  t.match(until(NOW + 1), [/^warning/])
  t.match(until(NOW), [/^error: .*expired at 2026-11-22T00:00:00Z/])
  t.match(of({ certificates: [{ ...certificate, validFrom: NOW + 1 }] }), [/^error: .*not valid before/])
  t.match(of({ namesNode: false, isSignedByCa: false, keyFits: false }), [
    /does not name/,
    /not signed/,
    /does not belong/,
  ])
  t.match(of({ keyMode: 0o640 }), [/^warning: .*mode 640/])
  t.match(of({ unusable: ['peer_tls.ca (/x) cannot be used: ENOENT'] }), [/^error: peer_tls\.ca/])
  t.match(texts(checkPeerTls({ isLoopbackOnly: false, files: null }, 'n1', NOW)), [
    /^error: .*peer_tls_required/,
  ])
  t.match(texts(checkPeerTls({ isLoopbackOnly: true, files: null }, 'n1', NOW)), [/^ok/])
})

t.test('certificates of the data and admin listeners', async (t) => {
  const certificate = { setting: 'data_tls.cert', path: '/c', validFrom: NOW - DAY, validTo: NOW + 31 * DAY }
  const listener: ListenerTlsFacts = {
    listener: 'data',
    unusable: [],
    certificates: [certificate],
    keyFits: true,
    clients: null,
  }
  const of = (change: Partial<ListenerTlsFacts>) =>
    texts(checkListenerTls([{ ...listener, ...change }], [], NOW))
  t.match(texts(checkListenerTls([], [], NOW)), [/^ok: .*plain HTTP.*only this machine/])
  const plain = { listener: 'data', address: '0.0.0.0:9000' } as const
  t.match(texts(checkListenerTls([], [{ ...plain, isAllowed: false }], NOW)), [
    /^error: .*0\.0\.0\.0:9000.*plain HTTP.*listener_tls_required/,
  ])
  t.match(texts(checkListenerTls([listener], [{ ...plain, isAllowed: true }], NOW)), [
    /^warning: .*0\.0\.0\.0:9000.*plain HTTP.*listeners\.data_plain allows/,
    /^ok/,
  ])
  t.match(of({}), [/^ok/])
  t.match(of({ certificates: [{ ...certificate, validTo: NOW + 1 }] }), [/^warning: .*expires in 0 days/])
  t.match(of({ certificates: [{ ...certificate, validTo: NOW }] }), [/^error: .*expired/])
  t.match(of({ keyFits: false }), [/^error: data_tls\.key does not belong/])
  t.match(of({ unusable: ['data_tls.key (/x) cannot be used: ENOENT'] }), [/^error: data_tls\.key/])
  const authority = {
    ...certificate,
    setting: 'data_tls.client_ca',
    subject: 'CN=clients',
    isAuthority: true,
    signsNodes: false,
  }
  type Authority = typeof authority
  const clients = (...changes: Partial<Authority>[]) => {
    const certificates = changes.map((change) => ({ ...authority, ...change }))
    return of({ clients: { setting: authority.setting, path: '/ca', certificates } })
  }
  t.match(clients({}), [
    /^ok/,
    /^ok: authorities of clients in data_tls\.client_ca: 1; .* expires at 2026-12-23/,
  ])
  t.match(clients(), [/^error: data_tls\.client_ca \(\/ca\) holds no certificate/])
  t.match(clients({ validTo: NOW }), [/^error: data_tls\.client_ca .* expired/])
  t.match(clients({ validFrom: NOW + 1 }), [/^error: .* not valid before/])
  t.match(clients({ validTo: NOW + 1 }), [/^warning: .* expires in 0 days/])
  t.match(clients({ isAuthority: false }), [/^error: .* is no authority \(CN=clients\)/])
  t.match(clients({ signsNodes: true }), [/^warning: .* authority of the nodes/])
  t.match(clients({ validTo: NOW }, {}), [/^warning: .* expired/], 'the other one is good')
  t.match(clients({ isAuthority: false }, {}), [/^warning: .* is no authority/])
})

t.test('listeners', async (t) => {
  const facts = { setting: 'listeners.peer', address: '10.0.0.1:9002', detail: 'EADDRNOTAVAIL' }
  t.match(checkListener({ ...facts, use: 'free' }), { severity: 'ok' })
  t.match(checkListener({ ...facts, use: 'own' }), { severity: 'ok', found: /this node/ })
  t.match(checkListener({ ...facts, use: 'other' }), { severity: 'warning', action: /Restart/ })
  t.match(checkListener({ ...facts, use: 'taken' }), {
    severity: 'error',
    action: /cluster\.members on every node/,
  })
  t.match(checkListener({ ...facts, use: 'unavailable' }), { severity: 'error', found: /EADDRNOTAVAIL/ })
})

const peer = (change: Partial<PeerFacts>): PeerFacts => ({
  nodeId: 'n2',
  address: 'h:1',
  outcome: 'accepted',
  code: '',
  message: '',
  aheadMs: 0,
  ...change,
})

t.test('peers, each with the action', async (t) => {
  t.match(checkPeer(peer({})), { severity: 'ok' })
  const refused = (code: string) => checkPeer(peer({ outcome: 'refused', code, message: 'no' }))
  t.match(refused('foreign_cluster'), { severity: 'error', action: /same cluster\.id/ })
  t.match(refused('wrong_node'), { action: /another node answers/ })
  t.match(refused('unheard_of'), { severity: 'error', action: /log of that node/ })
  t.match(checkPeer(peer({ outcome: 'foreign' })), { severity: 'error', found: /not a holdfast node/ })
  t.match(checkPeer(peer({ outcome: 'unreachable', code: 'ECONNREFUSED' })), { action: /Start that node/ })
  t.match(checkPeer(peer({ outcome: 'unreachable', code: 'CERT_HAS_EXPIRED' })), { action: /certificates/ })
  const onTheFirstMachine = (code: string) => checkPeer(peer({ outcome: 'unreachable', code }), true)
  t.match(onTheFirstMachine('ECONNREFUSED'), { severity: 'warning', action: /Start all nodes of the new/ })
  t.match(onTheFirstMachine('EHOSTUNREACH'), { severity: 'error' })
  t.match(checkPeer(peer({ outcome: 'unreachable', code: 'peer_tls_invalid' })), { action: /certificates/ })
})

t.test('clocks: the limit is that of the configuration, and the wrong clock is named', async (t) => {
  const of = (...ahead: readonly (number | null)[]) =>
    checkClock(
      ahead.map((aheadMs, n) => peer({ nodeId: `n${n + 2}`, aheadMs })),
      5000,
    )
  t.same(of(null), [], 'no peer reported a time')
  t.match(of(5000, -5000), [{ severity: 'ok' }])
  t.match(of(0, -5001), [{ severity: 'error', found: /n3 is 5 s behind/, action: /of both machines/ }])
  t.match(of(9000, 9500), [{ action: /of this machine, which differs from all others/ }, {}])
})

t.test('the process on the data directory', async (t) => {
  const status = {
    nodeId: 'n1',
    clusterId: 'c',
    pid: 7,
    version: '1',
    nodeVersion: '24',
    isReady: true,
    reasons: [],
    listeners: { data: '', admin: '', peer: '' },
    masterKeyFingerprint: null,
  }
  t.match(texts(checkNode({ kind: 'stopped' }, '1')), [/^ok/])
  t.match(texts(checkNode({ kind: 'answering', status }, '1')), [
    /^ok: node n1 \(process 7\) runs and is ready/,
  ])
  t.match(texts(checkNode({ kind: 'answering', status }, '2')), [/^warning: .*version 1/])
  t.match(texts(checkNode({ kind: 'answering', status: null }, '1')), [/^warning/])
  const waiting = { ...status, isReady: false, reasons: ['No leader is known'] }
  t.match(texts(checkNode({ kind: 'answering', status: waiting }, '1')), [/^error: .*No leader is known/])
  t.match(checkNode({ kind: 'answering', status: waiting }, '1'), [{ action: /by itself/ }])
  t.match(checkNode({ kind: 'answering', status: { ...waiting, hasLeft: true } }, '1'), [
    { action: /Stop this node and keep its data directory/ },
  ])
  t.match(texts(checkNode({ kind: 'silent', pid: 7, why: 'no answer' }, '1')), [
    /^error: process 7 .*no answer/,
  ])
})

t.test('the machine', async (t) => {
  const facts: MachineFacts = {
    nodeVersion: '24.12.0',
    whose: 'the node',
    openFilesMax: 4096,
    memoryBytes: 512 * 1024 ** 2,
    coreBytesMax: 0,
    swapUsedBytes: 0,
  }
  const problems = (change: Partial<MachineFacts>) =>
    checkMachine({ ...facts, ...change })
      .filter(({ severity }) => severity !== 'ok')
      .map(({ check, severity }) => `${severity} ${check}`)
  t.same(problems({}), [])
  t.same(
    problems({ openFilesMax: null, coreBytesMax: null, swapUsedBytes: null }),
    [],
    'unknown values are no problem',
  )
  t.same(problems({ nodeVersion: '24.11.9' }), ['error node_version'])
  t.same(problems({ nodeVersion: '22.30.0' }), ['error node_version'])
  t.same(problems({ nodeVersion: '25.0.0' }), [])
  t.same(problems({ openFilesMax: 1024 }), ['warning open_files'])
  t.same(problems({ memoryBytes: 256 * 1024 ** 2 }), ['warning memory'])
  t.same(problems({ coreBytesMax: 1 }), ['warning keys_in_memory'])
  t.same(problems({ swapUsedBytes: 4096 }), ['warning keys_in_memory'])
  const { engines } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  t.equal(`${engines.node}.0`, `>=${NODE_VERSION_MIN}`)
})

t.test('the audit log', async (t) => {
  const hour = 3_600_000
  const unsealed = { links: 12, oldest: NOW - hour }
  const counts = { segments: 3, bytes: 98_304, lookedAt: 3, incomplete: 0, lost: 0 }
  const status = { unsealed, isSealing: true, now: NOW, ...counts }
  t.same(texts(checkAudit(null)), [])
  t.same(texts(checkAudit(status)), [
    'ok: 3 segments with 96.0 KiB, according to their rows no copy is missing; 12 links in rows, the oldest since 2026-11-21T23:00:00.000Z',
  ])
  const none = { ...status, segments: 0, bytes: 0, lookedAt: 0, unsealed: { links: 0, oldest: null } }
  t.same(texts(checkAudit(none)), ['ok: 0 segments with 0 bytes; 0 links in rows'])
  t.match(texts(checkAudit({ ...status, segments: 90_000, lookedAt: 20_000 })), [/20000 were checked/])
  const old = { ...status, unsealed: { links: 12, oldest: NOW - 2 * hour - 1 } }
  t.match(texts(checkAudit(old)), [/^warning: 12 links .* the oldest since 2026-11-21T21:59:59.999Z/])
  t.match(texts(checkAudit({ ...old, isSealing: false })), [/^ok: .*does not include segments yet/])
  t.match(texts(checkAudit({ ...old, incomplete: 2, lost: 1 })), [
    /^error: 1 of 3 segments .* only on lost members/,
    /^warning: 2 of 3 segments .* have a copy missing/,
    /^warning: 12 links/,
  ])
})

t.test('an origin that webhooks of every tenant may reach inside is a warning', async (t) => {
  const judged = (...entries: { tenants: string[] | null; paths: string[] | null }[]) =>
    texts(
      checkWebhookTargets({ allowOrigins: entries.map((one) => ({ origin: 'https://in.example', ...one })) }),
    )
  t.same(judged(), ['ok: webhooks reach public addresses only'])
  t.match(judged({ tenants: ['acme'], paths: null }), [/^ok: .*open to the tenants that it names/])
  t.match(judged({ tenants: ['acme'], paths: null }, { tenants: null, paths: ['/hook'] }), [
    /^warning: .*opens https:\/\/in\.example to every tenant/,
  ])
})
