/**
 * The whole service on a one-node cluster in memory: real state machine and store on a temporary directory, real access
 * and content, blobs in memory. Only the Raft machine below is replaced, through its port.
 * Faults are switched on by assigning the public fields; nothing here waits for time.
 */
import { backupsIn, keptBackups } from './kept-backup.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as rest } from 'node:timers/promises'
import type { Row } from '../../src/state-machine/base/view.ts'
import type { RowKey } from '../../src/state-machine/base/row-key.ts'
import { type LogLine, recordingLogger } from './loggers.ts'
import { DISK_THRESHOLDS } from '../../cluster/base/disk-level.ts'
import { FEATURE_LEVEL } from '../../cluster/node/base/feature-level.ts'
import type {
  Cluster,
  MembershipPort,
  NodeReport,
  NodeRepair,
  StateCut,
  ClusterTimeStatus,
} from '../../cluster/index.ts'
import { newAdminToken } from '../../src/access/admin-token.ts'
import { siteSecretsOf } from '../../src/access/site-secrets.ts'
import { LastUsed } from '../../src/access/last-used.ts'
import type { MasterKey } from '../../src/access/master-key.ts'
import { NO_TRAIL } from '../../src/audit/audit-trail.ts'
import { NativeAccess } from '../../src/access/native-access.ts'
import type { Config } from '../../src/config/types.ts'
import { ClusterContent } from '../../src/content/cluster-content.ts'
import { ObjectContent } from '../../src/content/object-content.ts'
import { Limits } from '../../src/limits/limits.ts'
import { AuditSegments } from '../../src/operations/audit-segments/audit-segments.ts'
import { UploadSessions } from '../../src/workers/upload-sessions.ts'
import { ReplicaCounter } from '../../src/operations/base/replica-counts.ts'
import { WritesInProgress } from '../../src/operations/base/writes-in-progress.ts'
import type { Services } from '../../src/operations/base/services.ts'
import type { AuditRow } from '../../src/state-machine/audit/records.ts'
import type { AdminRole } from '../../src/state-machine/base/origin.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import type { AdminTokenRecord, CallerBinding } from '../../src/state-machine/tenants/records.ts'
import { openStore, type Store } from '../../src/store/open-store.ts'
import { withLevelGate } from '../../src/commands/level-gate.ts'
import { createPropose, type Propose } from '../../src/commands/propose.ts'
import { encodeRow, keyBytes } from '../../src/store/rows/row-codec.ts'
import { TEST_CALLERS, TEST_LIMITS, testMasterKey } from './content-world.ts'
import { QUIET_REPAIR, SampleDisks } from './disk-samples.ts'
import { singleNodeMembership } from './membership-samples.ts'
import { MemorySite } from './memory-site.ts'
import { MemoryBlobs } from './memory-blobs.ts'
import { MemoryLog } from './memory-log.ts'

interface Teardown {
  teardown(handler: () => void | Promise<void>): void
}

export interface MadeKey {
  readonly accessKeyId: string
  readonly secretKey: string
}

type Sections = { readonly [K in 'limits' | 'callers' | 'notifications' | 'security']?: Partial<Config[K]> }

interface Options
  extends Sections,
    Partial<Pick<Config['listeners'], 'consoleData' | 'proxyProtocol' | 'trustedProxies'>> {
  readonly metricsPublic?: boolean
  readonly publicUrl?: string
  readonly contentOrigin?: string
  readonly s3Domains?: readonly string[]
  readonly auditStrict?: boolean
  readonly requestLines?: Config['logging']['requests']
  readonly oidc?: Config['console']['oidc']
  readonly consoleUrl?: string
  readonly masterKey?: MasterKey
  /** The clock by which uploads are measured, in milliseconds. */
  readonly uploadNow?: () => number
}

export class MemoryServices {
  /** A test may replace a port. */
  readonly services: { -readonly [K in keyof Services]: Services[K] }
  readonly uploads: UploadSessions
  readonly uses = new LastUsed()
  readonly own: ClusterContent
  readonly limits: Limits
  readonly content: ObjectContent
  readonly blobs = new MemoryBlobs()
  readonly otherSite = new MemorySite()
  readonly lines: LogLine[] = []
  /** Rows of the audit log that the edge wrote. */
  readonly access: NativeAccess
  readonly auditRows: AuditRow[] = []
  /** The clock of tokens, in milliseconds since 1970. */
  now = Date.now()
  /** The clock of the limits of callers. */
  limitsNow: () => number = () => performance.now()
  /** What requests seem to hold of `limits.memory`. Share. */
  memoryUsed = 0
  /** While set, barriers and proposals throw it. */
  barrierFault: Error | null = null
  proposeFault: Error | null = null
  /** Awaited before a proposal is applied. */
  beforeApply: () => Promise<void> = async () => {}
  notReady: readonly string[] = []
  featureLevel = FEATURE_LEVEL
  /** The copies that members report, and where copies should be. */
  readonly disks = new SampleDisks()
  histories: readonly NodeReport[] = [{ nodeId: 'n1', bytes: null, why: 'unreachable' }]
  doctors: readonly NodeReport[] = [{ nodeId: 'n1', bytes: null, why: 'unreachable' }]
  repairs: readonly NodeRepair[] = [{ nodeId: 'n1', status: QUIET_REPAIR, disk: null }]
  wanted: readonly string[] = ['n1']
  readonly stopping = new AbortController()
  /** A reader has found the row that `damageRow` damaged. */
  isDamaged = false
  /** The state before the damage, as a peer has it; the next barrier after the damage was found installs it. */
  #replacement: StateCut | null = null
  barriers = 0
  /** Requests that asked whether they may do without one, and others that asked for the level of the state. */
  #rests = 0
  proposals = 0
  readonly #store: Store
  readonly #log: MemoryLog

  static async start(t: Teardown, options: Options = {}): Promise<MemoryServices> {
    const dir = mkdtempSync(join(tmpdir(), 'holdfast-services-'))
    const world = new MemoryServices(dir, options)
    await world.#store.stateMachine.open(() => (world.isDamaged = true))
    t.teardown(async () => {
      await world.#store.stateMachine.close()
      rmSync(dir, { recursive: true, force: true })
    })
    return world
  }

  private constructor(dir: string, options: Options) {
    const { masterKey = testMasterKey } = options
    const logger = recordingLogger(this.lines)
    this.#store = openStore({ dir, logger })
    this.#log = new MemoryLog({
      store: this.#store,
      now: () => Math.max(this.now, Date.now()),
      featureLevel: () => this.featureLevel,
    })
    const state = this.#store.reader
    const config = testConfig(dir, options)
    const reachesLevel = async (level: number): Promise<boolean> => this.featureLevel >= level
    const proposing = createPropose({ propose: (command) => this.#propose(command) })
    const propose = withLevelGate(proposing, { reachesLevel })
    const measure = () => ({ heap: 0, heapMax: Infinity, external: this.memoryUsed })
    const memory = { bytesMax: 1, measure, onLevel: () => undefined }
    this.limits = new Limits({ settings: config.callers, state, memory, now: () => this.limitsNow() })
    const nextSession = () => this.blobs.nextSession()
    this.uploads = new UploadSessions({ nodeId: 'n1', nextSession, propose })
    const { blobs, uploads } = this
    const reading = { blobs, uploads, state, masterKey, readBarrier: async () => undefined }
    this.content = new ObjectContent({ ...reading, config, ...clockOf(options) })
    this.own = new ClusterContent(reading)
    this.access = new NativeAccess({ masterKey, state, config, uses: this.uses, now: () => this.now })
    this.services = {
      config,
      cluster: this.#cluster(),
      state,
      propose,
      access: this.access,
      limits: this.limits,
      content: this.content,
      openSite: () => this.otherSite,
      prometheus: null,
      siteSecrets: siteSecretsOf(masterKey),
      auditSegments: new AuditSegments(this.own),
      writesInProgress: new WritesInProgress(),
      replicaCounter: new ReplicaCounter({ state, now: () => this.now, wait: (ms) => rest(ms), logger }),
      ...keptBackups(dir, { config, state, masterKey, cluster: this.#cluster() }),
      stopping: this.stopping.signal,
      audit: { ...NO_TRAIL, append: (row) => void this.auditRows.push(row) },
      logger,
    }
  }

  get reader(): Store['reader'] {
    return this.#store.reader
  }

  /** Grows with each request whose caller is about to be proved from the rows. */
  get arrivals(): number {
    return this.barriers + this.#rests
  }

  /** A checksum over all rows. */
  checksum(): string {
    return Buffer.from(this.#store.stateMachine.checksum()).toString('hex')
  }

  async tenant(id: string): Promise<void> {
    const keys = this.services.access.newTenantKeys(id)
    await this.change({ type: 'createTenant', id, name: id, ...keys })
  }

  async accessKey(
    tenantId: string,
    scopes: string,
    expiresAt: number | null = null,
    boundTo?: CallerBinding,
  ): Promise<MadeKey> {
    const { accessKeyId, secretKey, sealed } = this.services.access.newAccessKey()
    const record = { accessKeyId, tenantId, accountId: null, name: null, scopes, secret: sealed, expiresAt }
    await this.change({ type: 'createAccessKey', ...record, ...(boundTo === undefined ? {} : { boundTo }) })
    return { accessKeyId, secretKey }
  }

  /** A bearer token of a new key. */
  async bearer(tenantId: string, scopes = 'read,write,delete'): Promise<string> {
    const key = await this.accessKey(tenantId, scopes)
    return this.services.access.exchange({ ...key, clientAddress: 'test' }).token
  }

  async adminToken(
    role: AdminRole,
    tenantId: string | null = null,
    expiresAt: number | null = null,
    restrictions: Pick<AdminTokenRecord, 'noKeys' | 'boundTo'> = {},
  ): Promise<string> {
    const { token, tokenId, sha256 } = newAdminToken()
    const record = { tokenId, name: role, role, tenantId, expiresAt, sha256 }
    await this.change({ type: 'createAdminToken', ...record, ...restrictions })
    return token
  }

  /** Changes a row on the disk without the state machine's knowledge; no decoded form of it is kept. */
  async damageRow(key: string): Promise<void> {
    this.#replacement = await this.#store.stateMachine.snapshot()
    const { current } = this.#store.stateMachine.handle
    const value = current.db.getSync(keyBytes(key)) ?? Buffer.alloc(1)
    value[value.length - 1] = (value.at(-1) ?? 0) ^ 1
    await current.write([{ type: 'put', key: keyBytes(key), value }])
  }

  /** Replaces a row on the disk by another whole row, without the state machine's knowledge. */
  async writeRow(key: RowKey, row: object): Promise<void> {
    const bytes = keyBytes(key)
    const value = encodeRow(bytes, row as Row)
    await this.#store.stateMachine.handle.current.write([{ type: 'put', key: bytes, value }])
  }

  /** Removes a row from the disk without the state machine's knowledge. */
  async removeRow(key: string): Promise<void> {
    await this.#store.stateMachine.handle.current.write([{ type: 'del', key: keyBytes(key) }])
  }

  async #replaceDamaged(): Promise<void> {
    const cut = this.#replacement
    if (!this.isDamaged || cut === null) return
    this.#replacement = null
    this.isDamaged = false
    await this.#store.stateMachine.install(cut)
  }

  /** Applies a command that no operation here proposes. */
  async change(command: Parameters<Propose>[0]): Promise<void> {
    const reply = await this.services.propose(command)
    if (!reply.ok) throw new Error(`${command.type}: ${reply.code} ${reply.message}`)
  }

  /**
   * Another node has acknowledged this command, and this one has not applied it: its rows are old until a barrier, or an entry of its own that comes
   * after it in the log.
   */
  changeElsewhere(command: Command): void {
    this.#log.appendElsewhere(command)
  }

  /** The membership port; a test may replace it. */
  membership: MembershipPort = singleNodeMembership('n1')

  #cluster(): Services['cluster'] {
    const membership = (): MembershipPort => {
      this.#rests += 1
      return { ...this.membership, stateLevel: this.featureLevel }
    }
    return {
      nodeId: 'n1',
      clusterId: 'memory-cluster',
      reachesLevel: async (level) => this.featureLevel >= level,
      readBarrier: async () => {
        this.barriers += 1
        if (this.barrierFault) throw this.barrierFault
        await this.#log.catchUp()
        await this.#replaceDamaged()
      },
      readiness: () => ({ ready: this.notReady.length === 0, reasons: this.notReady }),
      time: this.#clusterTime(),
      repairStatuses: async () => this.repairs,
      histories: { open: () => undefined, all: async () => this.histories },
      doctors: { open: () => undefined, all: async () => this.doctors },
      orderDisk: (...order) => this.disks.orderDisk(...order),
      diskPlaces: (...question) => this.disks.diskPlaces(...question),
      placement: () => this.wanted,
      get membership() {
        return membership()
      },
    } satisfies Partial<Cluster>
  }

  #clusterTime(): Services['cluster']['time'] {
    const now = (): number => Math.max(this.now, Date.now())
    const known = (): ClusterTimeStatus => {
      const time = now()
      return { majorityTime: time, offsetMs: 0, offsets: [], logTime: time, confirmedTime: time }
    }
    return { now, status: known }
  }

  /** One command at a time, in the order of the calls, applied at once: the log of a cluster of one. */
  #propose(command: Uint8Array): Promise<Uint8Array> {
    return this.#log.propose(command, async () => {
      await this.beforeApply()
      if (this.proposeFault) throw this.proposeFault
      this.proposals += 1
    })
  }
}

const clockOf = ({ uploadNow }: Options) => (uploadNow === undefined ? {} : { now: uploadNow })
const UNSET = {
  blobDirectories: [],
  witnessDir: null,
  sealMetadata: false,
  raftThread: false,
  edgeThreads: 0,
  directIoFromBytes: 0,
}
function testConfig(dataDir: string, options: Options): Config {
  return {
    node: { id: 'n1', dataDir, zone: 'z1', ...UNSET },
    cluster: {
      id: 'memory-cluster',
      members: [{ nodeId: 'n1', peerAddress: '127.0.0.1:1', zone: 'z1', weight: 1 }],
      heartbeatMs: 100,
      electionTimeoutMs: 1000,
      logKeepEntries: 1000,
      logKeepBytes: 2 ** 20,
      logPinBytes: 2 ** 26,
      collectAfterMs: 0,
      promoteAfterMs: 0,
      clockSkewMaxMs: 5000,
    },
    disk: DISK_THRESHOLDS,
    repair: { scrubEveryMs: 604_800_000 },
    backup: { directory: backupsIn(dataDir) },
    listeners: {
      data: '127.0.0.1:0',
      admin: '127.0.0.1:0',
      peer: '127.0.0.1:0',
      publicUrl: options.publicUrl ?? null,
      contentOrigin: options.contentOrigin ?? null,
      s3Domains: options.s3Domains ?? [],
      trustedProxies: options.trustedProxies ?? [],
      proxyProtocol: options.proxyProtocol ?? false,
      consoleData: options.consoleData ?? true,
      dataPlain: false,
      adminPlain: false,
    },
    console: { url: options.consoleUrl ?? 'http://127.0.0.1:1', oidc: options.oidc ?? null },
    peerTls: null,
    dataTls: null,
    adminTls: null,
    security: {
      masterKeyFile: '',
      keyProvider: { kind: 'file' },
      masterKeyWaitMs: 0,
      masterKeyCheckEveryMs: 0,
      nativeApiTokenTtlMs: 3_600_000,
      maxPresignTtlMs: 604_800_000,
      maxTemporaryTtlMs: 43_200_000,
      maxRetentionMs: 36_500 * 86_400_000,
      s3Region: 'us-east-1',
      secondApproval: [],
      ...options.security,
    },
    content: { compression: 'zstd', sealingThreads: 1 },
    audit: {
      keepMs: 90 * 86_400_000,
      bytesMax: 0,
      strict: options.auditStrict ?? false,
      spoolBytesMax: 2 ** 28,
      unprovedSpoolBytesMax: 2 ** 24,
      export: null,
    },
    notifications: { allowHttp: false, allowPorts: [443, 8443], allowOrigins: [], ...options.notifications },
    metrics: { public: options.metricsPublic ?? false, perTenant: false, perBucket: false, prometheus: null },
    logging: { level: 'silent', requests: options.requestLines ?? 'problems', format: 'json' },
    tracing: null,
    limits: { ...TEST_LIMITS, tokenMintPerMinute: 6000, tokenMintBurst: 1000, ...options.limits },
    callers: { ...TEST_CALLERS, ...options.callers },
  }
}
