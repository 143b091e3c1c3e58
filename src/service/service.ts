/**
 * One node of the service: composes the components, and starts and stops them in order.
 *
 * Owns: the composition and the order of start and stop. Knows nothing of: command lines, signals.
 * Rules: the store opens before the cluster node, and the cluster node before the listeners. At a stop the listeners close first
 * and LevelDB last, because no component may read a closed database.
 */
import { setTimeout as moment } from 'node:timers/promises'
import {
  type Cluster,
  createCluster,
  type Logger,
  type MetricSample,
  type NodeIdentity,
  type PeerTraces,
  type StateCut,
  type StateMachine,
  type Trace,
} from '../../cluster/index.ts'
import { LastUsed } from '../access/last-used.ts'
import type { MasterKey } from '../access/master-key.ts'
import { NativeAccess, type NativeAccessParts } from '../access/native-access.ts'
import { SealedSecrets } from '../access/sealed-secrets.ts'
import type { CountingTrail } from '../audit/counting-trail.ts'
import { createAdminServer } from '../api/server/admin-server.ts'
import { createDataServer } from '../api/server/data-server.ts'
import { publicEdges } from '../api/server/public-edges.ts'
import { startLocalServer } from '../api/local/local-server.ts'
import { adminUrlOf, dataUrlOf } from '../config/listener-urls.ts'
import type { Config } from '../config/types.ts'
import { ClusterContent } from '../content/cluster-content.ts'
import { Downloads } from '../content/downloads.ts'
import { ObjectContent } from '../content/object-content.ts'
import { localSocketPath } from '../base/local-socket.ts'
import { usageSamples } from '../operations/tenants/usage-samples.ts'
import { underMasterKey } from './backup-services.ts'
import { samplesOf } from './node-samples.ts'
import { AuditSegments } from '../operations/audit-segments/audit-segments.ts'
import { ReplicaCounter } from '../operations/base/replica-counts.ts'
import { WritesInProgress } from '../operations/base/writes-in-progress.ts'
import { withLevelGate } from '../commands/level-gate.ts'
import type { Services } from '../operations/base/services.ts'
import { membersOf } from '../state-machine/members/members.ts'
import { createCopyLedger } from '../store/ledger/copy-ledger.ts'
import { createPropose } from '../commands/propose.ts'
import type { View } from '../state-machine/base/view.ts'
import { Metrics } from '../telemetry/metrics.ts'
import { VERSION } from '../base/version.ts'
import { clusterOptions } from './cluster-options.ts'
import { MasterKeyGate } from '../workers/master-key-gate.ts'
import { openPrometheus, startRecording } from './charts.ts'
import { auditedWhile, openAuditTrail, openExport } from './audit-parts.ts'
import { allWorkers, type Work } from '../workers/all-workers.ts'
import { KeyKeeper } from '../workers/key-keeper.ts'
import type { KeyProviderWatch } from '../workers/key-provider-watch.ts'
import { repeat } from '../workers/repeating.ts'
import { listen } from './listen.ts'
import { openMasterKey, openWatch } from './master-key-start.ts'
import { openOwnFindings } from './own-findings.ts'
import { openSites } from './open-sites.ts'
import { openLimits } from './node-limits.ts'
import { runStartupTasks } from '../workers/startup-tasks.ts'
import { UploadSessions } from '../workers/upload-sessions.ts'
import { openDataDir } from './open-data-dir.ts'
import { refuseStart } from './start-refusals.ts'
import { openTracing, tracedServices, type Tracing } from './tracing.ts'

export interface Service {
  readonly dataAddress: string
  readonly adminAddress: string
  /** Resolves when the node has found its cluster and has done what it does once after a start. Never rejects. */
  readonly ready: Promise<void>
  /** Resolves with the cause when the node cannot continue by itself. Never rejects. */
  readonly failed: Promise<Error>
  /** The identity that an operator compares before this node is added to its cluster; null: it belongs to the cluster. */
  readonly waiting: NodeIdentity | null
  /** Transfers leadership, finishes running requests, closes everything. Idempotent. */
  stop(): Promise<void>
}

/** The components of one node, before it listens. */
interface Components {
  readonly cluster: Cluster
  readonly services: Services
  readonly masterKeyGate: MasterKeyGate
  readonly masterKey: MasterKey
  readonly secrets: SealedSecrets
  readonly content: ObjectContent
  readonly keyKeeper: KeyKeeper
  readonly keyWatch: KeyProviderWatch
  readonly work: Work
  readonly audit: CountingTrail
  readonly samples: () => Promise<readonly MetricSample[]>
}

function workSettings(config: Config, state: View) {
  const { cluster, audit, notifications } = config
  const self = {
    version: VERSION,
    dataAddress: dataUrlOf(config),
    adminAddress: adminUrlOf(config),
  }
  return {
    members: () => memberNames(state, config),
    founders: cluster.members.map((member) => ({ ...member, dataAddress: null, adminAddress: null })),
    self,
    collectAfterMs: cluster.collectAfterMs,
    promoteAfterMs: cluster.promoteAfterMs,
    auditKeepMs: audit.keepMs,
    auditBytesMax: audit.bytesMax,
    notifications,
  }
}

/** The present members; before the cluster is founded, the configured ones. */
function memberNames(state: View, config: Config): readonly string[] {
  const { members } = membersOf(state)
  const known = members.filter(({ phase }) => phase !== 'lost')
  return (known.length > 0 ? known : config.cluster.members).map(({ nodeId }) => nodeId)
}

/** The functions of the cluster that are called only after it is created. */
function lateCluster(cluster: () => Cluster): Pick<Cluster, 'propose' | 'reachesLevel'> {
  return {
    propose: (command, how) => cluster().propose(command, how),
    reachesLevel: (level, withinMs) => cluster().reachesLevel(level, withinMs),
  }
}

interface ComposeOptions {
  readonly stopping: AbortSignal
  readonly isJoining: boolean
  /** Ends a start that waits. */
  readonly ending: AbortSignal
  /** Null: nothing is traced. */
  readonly trace: Trace | null
  readonly peerTraces: PeerTraces | null
}

async function composeServices(config: Config, logger: Logger, how: ComposeOptions): Promise<Components> {
  const { stopping, isJoining, trace, peerTraces } = how
  const masterKey = await openMasterKey(config, logger, how.ending)
  const { keys, metadataKey, stateMachine, reader: state } = await openDataDir(config, masterKey, logger)
  // The cluster asks the ledger for tasks, and the ledger proposes to the cluster: `late` resolves the cycle after creation.
  const late = lateCluster(() => cluster)
  const propose = withLevelGate(createPropose(late, state), late)
  const downloads = new Downloads()
  const cluster: Cluster = await createCluster(clusterOptions(config, keys, isJoining), {
    stateMachine,
    copyLedger: createCopyLedger(state, propose, late),
    downloads: () => downloads.underWay,
    trace,
    peerTraces,
    logger,
  })
  const uses = new LastUsed()
  const { access, masterKeyGate } = openAccess(config, { masterKey, state, uses, time: cluster.time })
  const shared = { cluster, propose, state, masterKey, downloads, trace }
  const { uploads, content, own } = contentOf(config, shared)
  const limits = openLimits(config, { cluster, access, state, content, logger })
  const audit = await openAuditTrail(config, metadataKey, logger)
  const services = {
    config,
    cluster: masterKeyGate.guard(cluster),
    state,
    propose,
    access,
    limits: limits.limits,
    content,
    ...openSites(config, { time: cluster.time, masterKey }),
    prometheus: openPrometheus(config),
    auditSegments: new AuditSegments(own),
    writesInProgress: new WritesInProgress(),
    replicaCounter: new ReplicaCounter({ state, now: Date.now, wait: (ms) => moment(ms), logger }),
    ...underMasterKey({ config, state, masterKey, cluster, stopping }),
    stopping,
    audit,
    logger,
  }
  const secrets = new SealedSecrets(masterKey, state)
  const keyWork = keyWorkOf(services, { ...shared, content, secrets })
  const auditTarget = await openExport(config, cluster.time)
  const parts = { ...services, ...shared, uploads, content, uses, own, auditTarget }
  const work = allWorkers({ ...workSettings(config, state), ...parts, snapshot: cutsOf(stateMachine) })
  return {
    cluster,
    services,
    masterKeyGate,
    masterKey,
    secrets,
    content,
    ...keyWork,
    work,
    audit,
    samples: samplesOf({ cluster, work, ...keyWork, audit, limits, access, state }),
  }
}

const cutsOf =
  (stateMachine: Pick<StateMachine, 'snapshot'>): (() => Promise<StateCut>) =>
  () =>
    stateMachine.snapshot()

function openAccess(
  config: Config,
  { time, ...parts }: Pick<NativeAccessParts, 'masterKey' | 'state' | 'uses'> & Pick<Cluster, 'time'>,
): { readonly access: NativeAccess; readonly masterKeyGate: MasterKeyGate } {
  const masterKeyGate = new MasterKeyGate()
  const requireKey = (): void => masterKeyGate.require()
  const access = new NativeAccess({ ...parts, config, now: () => time.now(), requireKey })
  return { access, masterKeyGate }
}

/** The uploads of this node, the content of objects, and that of the cluster itself. */
function contentOf(
  config: Config,
  parts: Pick<Services, 'state' | 'propose'> &
    Pick<Components, 'cluster' | 'masterKey'> &
    Pick<ComposeOptions, 'trace'> & { readonly downloads: Downloads },
): Pick<Components, 'content'> & { readonly uploads: UploadSessions; readonly own: ClusterContent } {
  const { cluster, propose, state, masterKey, downloads, trace } = parts
  const { nodeId, blobs } = cluster
  const uploads = new UploadSessions({ nodeId, nextSession: () => blobs.nextSession(), propose })
  const common = { blobs, uploads, state, masterKey, readBarrier: () => cluster.readBarrier() }
  const content = new ObjectContent({ ...common, config, downloads, trace })
  return { uploads, content, own: new ClusterContent(common) }
}

function keyWorkOf(
  { config, state, propose, masterKeys, logger }: Services,
  components: Pick<Components, 'cluster' | 'content' | 'masterKey' | 'secrets'>,
): Pick<Components, 'keyKeeper' | 'keyWatch'> {
  const { cluster, content, masterKey, secrets } = components
  const { node } = config
  const own = logger.child({ component: 'keys' })
  const keyKeeper = new KeyKeeper({
    masterKey,
    secrets,
    state,
    propose,
    nodeId: node.id,
    members: () => memberNames(state, config),
    isJobRunner: () => cluster.isJobRunner(),
    forgetChangedKeys: () => content.forgetChangedKeys(),
    onWalk: (secretsLeft) => masterKeys.noteWalk(secretsLeft),
    logger: own,
  })
  return { keyKeeper, keyWatch: openWatch(config, masterKey, own) }
}

/** Undo steps, run from the last to the first; after a failure the others still run. */
class Teardown {
  readonly #steps: { name: string; run: () => Promise<unknown> }[] = []
  #running: Promise<void> | null = null

  add(name: string, run: () => Promise<unknown>): void {
    this.#steps.push({ name, run })
  }

  run(logger: Logger): Promise<void> {
    this.#running ??= this.#runAll(logger)
    return this.#running
  }

  async #runAll(logger: Logger): Promise<void> {
    for (const { name, run } of this.#steps.toReversed()) {
      await run().catch((err: unknown) => logger.error({ err, step: name }, 'stop step failed'))
    }
  }
}

type Served = Pick<Components, 'cluster' | 'content' | 'services' | 'samples'> & {
  readonly tracing: Tracing | null
}

async function openListeners(
  config: Config,
  { cluster, content, services, samples, tracing }: Served,
  teardown: Teardown,
): Promise<{ data: string; admin: string }> {
  const edges = publicEdges(config)
  const metrics = new Metrics({
    version: VERSION,
    nodeId: cluster.nodeId,
    samples: async () =>
      [await samples(), content.samples(), edges.samples(), tracing?.samples() ?? []].flat(),
    read: () => usageSamples(services.state, config.metrics),
  })
  const endRecording = startRecording({ cluster, metrics, logger: services.logger })
  teardown.add('charts', async () => endRecording())
  openOwnFindings(services)
  const traced = tracing === null ? {} : { tracer: tracing.tracer }
  const admin = createAdminServer(services, metrics, { ...edges.admin, ...traced })
  const data = createDataServer(services, metrics, { ...edges.data, ...traced })
  teardown.add('admin listener', async () => admin.close())
  const adminAddress = await listen(admin, config.listeners.admin, 'listeners.admin')
  teardown.add('data listener', async () => data.close())
  const dataAddress = await listen(data, config.listeners.data, 'listeners.data')
  await openLocalSocket(config, services, teardown)
  return { data: dataAddress, admin: adminAddress }
}

async function openLocalSocket(config: Config, services: Services, teardown: Teardown): Promise<void> {
  const path = localSocketPath(config.node.dataDir)
  if (path === null) {
    services.logger.warn({ dataDir: config.node.dataDir }, 'data directory path too long for a local socket')
    return
  }
  const server = await startLocalServer(services, path)
  teardown.add('local socket', () => new Promise((resolve) => server.close(resolve)))
}

function tracesOf(tracing: Tracing | null): Pick<ComposeOptions, 'trace' | 'peerTraces'> {
  return { trace: tracing?.tracer.within ?? null, peerTraces: tracing?.tracer.peers ?? null }
}

interface StartOptions {
  readonly isAudited?: () => boolean
  readonly isJoining?: boolean
  readonly ending?: AbortSignal
}

const NEVER = new AbortController().signal

/**
 * Throws StartError with a hint if the start fails for a reason that an operator must correct; nothing is left running then.
 * `isJoining`: this node waits until a running cluster adds it. `ending`: ends a start that waits for its master key, with its reason. `isAudited`: only for the benchmark of the costs of the audit log; no
 * setting controls it.
 */
export async function startService(
  config: Config,
  logger: Logger,
  { isAudited, isJoining = false, ending = NEVER }: StartOptions = {},
): Promise<Service> {
  await refuseStart(config, isJoining)
  const teardown = new Teardown()
  try {
    const stopping = new AbortController()
    const tracing = openTracing(config, logger)
    if (tracing !== null) teardown.add('tracing', tracing.close)
    const how = { stopping: stopping.signal, isJoining, ending, ...tracesOf(tracing) }
    const composed = await composeServices(config, logger, how)
    const traced = tracedServices(composed.services, tracing)
    const services = isAudited === undefined ? traced : auditedWhile(isAudited, traced)
    const components = { ...composed, services }
    const { cluster, content, work } = components
    teardown.add('cluster', () => cluster.stop())
    teardown.add('content', () => content.close())
    teardown.add('prometheus', async () => components.services.prometheus?.close())
    teardown.add('audit', () => components.audit.close())
    const addresses = await openListeners(config, { ...components, tracing }, teardown)
    // Requests that wait for an operation would keep the listeners open.
    teardown.add('waiting', async () => stopping.abort())
    const settling = new AbortController()
    const settled = runStartupTasks(components, settling.signal)
    teardown.add('settling', async () => {
      settling.abort()
      await settled.catch(() => undefined)
    })
    const working = new AbortController()
    const kept = settled.then(() => components.keyKeeper.run(working.signal))
    const workers = [...work.workers, components.keyWatch.worker(working.signal)]
    const worked = settled.then(() => Promise.all(workers.map((one) => repeat(one, working.signal))))
    teardown.add('workers', async () => {
      working.abort()
      settling.abort()
      await Promise.allSettled([kept, worked])
      await Promise.all([work.close(), components.keyWatch.close()])
    })
    logger.info({ ...addresses, version: VERSION, isWaiting: cluster.membership.isJoining }, 'node started')
    return {
      dataAddress: addresses.data,
      adminAddress: addresses.admin,
      ready: settled.catch(() => new Promise<never>(() => undefined)),
      failed: Promise.race([
        cluster.failed,
        components.audit.failed,
        Promise.all([kept, worked]).then(
          () => new Promise<never>(() => undefined),
          (error: Error) => error,
        ),
      ]),
      waiting: cluster.membership.isJoining ? cluster.membership.identity : null,
      stop: () => teardown.run(logger),
    }
  } catch (error) {
    await teardown.run(logger)
    throw error
  }
}
