/** What the doctor finds on a running node when a part of its machine cannot be examined. */
import t from 'tap'
import { examineRunning } from '../../src/doctor/examine-running.ts'
import { examined, SMALLEST } from '../config/written-config.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'
import { MadeCertificates } from '../transport/made-certificates.ts'

const STATUS = {
  nodeId: 'n1',
  clusterId: 'c',
  pid: process.pid,
  version: '0',
  nodeVersion: process.versions.node,
  isReady: true,
  reasons: [],
  listeners: { data: '', admin: '', peer: '' },
  masterKeyFingerprint: null,
}
const FACTS = { status: STATUS, audit: null, backups: null, placement: null }

t.test('checks that cannot be made are named, and the others are made', async (t) => {
  const { config } = examined(t, SMALLEST)
  if (config === null) throw new Error('the configuration has a fault')
  const dataDir = temporaryFolder(t)
  const faults: unknown[] = []
  // Read between two looks at the disk: it stands for a disk that fails in between.
  const failing = {
    ...config,
    node: { ...config.node, dataDir },
    get disk(): never {
      throw Object.assign(new Error('i/o error'), { code: 'EIO' })
    },
  }
  const { findings, notChecked } = await examineRunning(failing, { ...FACTS, now: Date.now() }, (cause) =>
    faults.push(cause),
  )
  t.match(faults, [{ code: 'EIO' }])
  t.match(findings.find(({ check }) => check === 'node')?.found, /runs and is ready/)
  t.ok(findings.some(({ check }) => check === 'identity'))
  for (const check of [
    'disk_space',
    'filesystem',
    'audit_log',
    'backups',
    'placement',
    'disk_speed',
  ] as const)
    t.ok(notChecked.includes(check), check)
})

t.test('certificates have their dates and a term by the clock of the node', async (t) => {
  const { config } = examined(t, SMALLEST)
  if (config === null) throw new Error('the configuration has a fault')
  const peerTls = new MadeCertificates(t).issue('n1')
  const at = async (now: number) =>
    (await examineRunning({ ...config, peerTls }, { ...FACTS, now }, () => undefined)).certificates
  const own = (await at(Date.now())).find(({ setting }) => setting === 'peer_tls.cert')
  if (own === undefined) throw new Error('there is no certificate')
  t.ok(own.validFrom < own.validTo)
  const termAt = async (now: number) =>
    (await at(now)).find(({ setting }) => setting === 'peer_tls.cert')?.term
  const day = 86_400_000
  t.equal(await termAt(own.validFrom - 1), 'notYetValid')
  t.equal(await termAt(own.validTo - 30 * day), 'valid')
  t.equal(await termAt(own.validTo - 30 * day + 1), 'endsSoon')
  t.equal(await termAt(own.validTo), 'expired')
})
