/**
 * Makes one frozen Config from a YAML file and the environment.
 *
 * Owns: the typed shape, and the checks that need more than one setting. Knows nothing of: its users.
 * Rule: nothing is guessed. An unknown key, a wrong unit or a missing value refuses the start with advice,
 * and all faults are reported together.
 */
import { dirname, resolve } from 'node:path'
import type { Member } from '../../cluster/index.ts'
import { isPlainHttpElsewhere } from '../base/plain-http.ts'
import { type ConfigFault, configFault, FaultError, invalidConfig } from './config-fault.ts'
import { checkBlobDirectories } from './blob-directories.ts'
import { consoleSettings } from './console-settings.ts'
import { checkDisk } from './disk-order.ts'
import { readConfigFile, type Written } from './config-file.ts'
import { type Environment, readEnvironment } from './environment.ts'
import { checkListeners } from './listener-addresses.ts'
import { dataUrlOf } from './listener-urls.ts'
import { keyProvider } from './key-provider-settings.ts'
import { parseSettings, type Values } from './parse-settings.ts'
import { Reader } from './reader.ts'
import type { Setting } from './settings/setting.ts'
import { SETTINGS } from './settings.ts'
import { telemetry } from './telemetry-settings.ts'
import type { AllowedOrigin, CallerLimits, Config, ListenerTlsFiles } from './types.ts'

export type { Environment }

/** A configuration and its faults. */
export interface Examined {
  /** Null when there are faults. */
  readonly config: Config | null
  readonly faults: readonly ConfigFault[]
  /** The values of the file and the environment with their sources, by setting. */
  readonly written: ReadonlyMap<string, Written>
  readonly values: Values
}

const refuse = (message: string, hint: string): FaultError => new FaultError(message, hint)

function peerTls(read: Reader): Config['peerTls'] {
  const given = (['peer_tls.ca', 'peer_tls.cert', 'peer_tls.key'] as const).filter((name) => read.has(name))
  if (given.length === 0) return null
  if (given.length < 3)
    throw refuse(`peer_tls needs ca, cert and key, got only ${given.join(', ')}`, 'Give all three or none.')
  return { ca: read.text('peer_tls.ca'), cert: read.text('peer_tls.cert'), key: read.text('peer_tls.key') }
}

function listenerTls(read: Reader, section: 'data_tls' | 'admin_tls'): ListenerTlsFiles | null {
  const given = ([`${section}.cert`, `${section}.key`] as const).filter((name) => read.has(name))
  if (given.length === 0 && read.has(`${section}.client_ca`))
    throw refuse(
      `${section}.client_ca needs ${section}.cert and key`,
      'Certificates are shown over TLS only.',
    )
  if (given.length === 0) return null
  if (given.length < 2)
    throw refuse(`${section} needs cert and key, got only ${given.join(', ')}`, 'Give both or none.')
  return {
    cert: read.text(`${section}.cert`),
    key: read.text(`${section}.key`),
    ...listenerClients(read, section),
  }
}

function listenerClients(read: Reader, section: 'data_tls' | 'admin_tls'): Pick<ListenerTlsFiles, 'clients'> {
  const areRequired = read.text(`${section}.client_certificates`) === 'required'
  if (read.has(`${section}.client_ca`))
    return { clients: { ca: read.text(`${section}.client_ca`), areRequired } }
  if (!areRequired) return {}
  throw refuse(
    `${section}.client_certificates is 'required', and ${section}.client_ca is not given`,
    'Give the file with the authorities that sign certificates of clients.',
  )
}

function listeners(read: Reader): Config['listeners'] {
  return {
    data: read.text('listeners.data'),
    admin: read.text('listeners.admin'),
    peer: read.text('listeners.peer'),
    publicUrl: read.textOrNull('listeners.public_url'),
    contentOrigin: read.textOrNull('listeners.content_origin'),
    s3Domains: read.has('listeners.s3_domain') ? read.text('listeners.s3_domain').split(',') : [],
    trustedProxies: read.get<readonly string[]>('listeners.trusted_proxies'),
    proxyProtocol: read.get<boolean>('listeners.proxy_protocol'),
    consoleData: read.get<boolean>('listeners.console_data'),
    dataPlain: read.get<boolean>('listeners.data_plain'),
    adminPlain: read.get<boolean>('listeners.admin_plain'),
  }
}

function listening(read: Reader): Pick<Config, 'listeners' | 'peerTls' | 'dataTls' | 'adminTls' | 'console'> {
  const own = { listeners: listeners(read), adminTls: listenerTls(read, 'admin_tls') }
  const others = { peerTls: peerTls(read), dataTls: listenerTls(read, 'data_tls') }
  return { ...own, ...others, console: consoleSettings(read, own) }
}

const APPROVED_KINDS = ['delete_tenant', 'lower_locks'] as const

function security(read: Reader): Config['security'] {
  return {
    masterKeyFile: read.text('security.master_key_file'),
    keyProvider: keyProvider(read),
    masterKeyWaitMs: read.number('security.master_key_wait'),
    masterKeyCheckEveryMs: read.number('security.master_key_check_every'),
    nativeApiTokenTtlMs: read.number('security.native_api_token_ttl'),
    maxPresignTtlMs: read.number('security.max_presign_ttl'),
    maxTemporaryTtlMs: read.number('security.max_temporary_ttl'),
    maxRetentionMs: read.number('security.max_retention'),
    s3Region: read.text('security.s3_region'),
    secondApproval: APPROVED_KINDS.filter((kind) =>
      read.text('security.second_approval').split(',').includes(kind),
    ),
  }
}

function notifications(read: Reader): Config['notifications'] {
  return {
    allowHttp: read.get<boolean>('notifications.allow_http'),
    allowPorts: read.get<readonly number[]>('notifications.allow_ports'),
    allowOrigins: read.get<readonly AllowedOrigin[]>('notifications.allow_origins'),
  }
}

function limits(read: Reader): Config['limits'] {
  return {
    inlineBytesMax: read.number('limits.inline_bytes'),
    objectPutBytesMax: read.number('limits.object_put_bytes'),
    multipartExpiresAfterMs: read.number('limits.multipart_expires_after'),
    bucketsPerTenantMax: read.number('limits.buckets_per_tenant'),
    configsPerTenantMax: read.number('limits.notification_configs_per_tenant'),
    configsPerOriginMax: read.number('limits.notification_configs_per_origin'),
    tokenMintPerMinute: read.number('limits.token_mint_per_minute'),
    tokenMintBurst: read.number('limits.token_mint_burst'),
    adminRequestsPerMinute: read.number('limits.admin_requests_per_minute'),
    adminRequestsBurst: read.number('limits.admin_requests_burst'),
    unprovedRequestsPerMinute: read.number('limits.unproved_requests_per_minute'),
    unprovedBurst: read.number('limits.unproved_burst'),
    unprovedBodyBytesMax: read.number('limits.unproved_body_bytes'),
    chunkBuffersMax: read.number('limits.chunk_buffers'),
    uploadMemoryBytesMax: read.number('limits.upload_memory'),
    memoryBytesMax: memoryBytesMax(read.number('limits.memory')),
    contendedBytesPerSecondMin: read.number('limits.contended_bytes_per_second'),
    connectionsMax: read.number('limits.connections'),
    bodyBytesPerMinuteMin: read.number('limits.body_bytes_per_minute'),
    requestDurationMaxMs: read.number('limits.request_duration'),
    answerBytesPerMinuteMin: read.number('limits.answer_bytes_per_minute'),
  }
}

const MEMORY_BYTES_LEAST = 64 * 1024 * 1024

function memoryBytesMax(bytes: number): number {
  if (bytes === 0 || bytes >= MEMORY_BYTES_LEAST) return bytes
  throw refuse(
    `limits.memory (${bytes} bytes) is less than 64MiB`,
    'A node without any request takes nearly as much. Give 64MiB or more, or 0 for 60% of the memory.',
  )
}

function callerLimits(read: Reader, scope: 'tenant' | 'key' | 'address'): CallerLimits {
  return {
    requestsPerSecond: read.number(`limits.${scope}_requests_per_second`),
    bytesInPerSecond: read.number(`limits.${scope}_bytes_in_per_second`),
    bytesOutPerSecond: read.number(`limits.${scope}_bytes_out_per_second`),
    burstSeconds: read.number('limits.burst') / 1000,
    requestsAtOnce: read.number(`limits.${scope}_requests_at_once`),
    uploadsAtOnce: read.number(`limits.${scope}_uploads_at_once`),
  }
}

function callers(read: Reader): Config['callers'] {
  return {
    tenant: callerLimits(read, 'tenant'),
    accessKey: callerLimits(read, 'key'),
    address: callerLimits(read, 'address'),
    workAtOnce: read.number('limits.work_at_once'),
    queueWaitMs: read.number('limits.queue_wait'),
  }
}

const bounds = (read: Reader): Pick<Config, 'limits' | 'callers'> => ({
  limits: limits(read),
  callers: callers(read),
})

function auditSettings(read: Reader): Config['audit'] {
  return {
    keepMs: read.number('audit.keep'),
    bytesMax: read.number('audit.max_bytes'),
    strict: read.get<boolean>('audit.strict'),
    spoolBytesMax: read.number('audit.spool_bytes'),
    unprovedSpoolBytesMax: read.number('audit.unproved_spool_bytes'),
    export: auditExport(read),
  }
}

const EXPORT_SCHEMES = { syslog: ['tls:'], otlp: ['https:', 'http:'], webhook: ['https:', 'http:'] } as const

function auditExport(read: Reader): Config['audit']['export'] {
  const kind = read.get<'none' | keyof typeof EXPORT_SCHEMES>('audit.export.to')
  if (kind === 'none') return null
  const url = read.textOrNull('audit.export.url')
  const schemes: readonly string[] = EXPORT_SCHEMES[kind]
  const parsed = URL.parse(url ?? '')
  if (url === null || parsed === null || !schemes.includes(parsed.protocol))
    throw refuse(
      `audit.export.url is missing or does not fit audit.export.to: ${kind}`,
      kind === 'syslog' ? 'Give tls://host:6514.' : 'Give the https:// URL that takes the rows.',
    )
  if (isPlainHttpElsewhere(parsed))
    throw refuse('audit.export.url is plain HTTP beyond this machine', 'Give an https:// URL.')
  const [ca, cert, key] = [
    read.textOrNull('audit.export.ca'),
    read.textOrNull('audit.export.cert'),
    read.textOrNull('audit.export.key'),
  ]
  if ((cert === null) !== (key === null))
    throw refuse('audit.export needs cert and key, got only one of them', 'Give both or none.')
  const secretFile = read.textOrNull('audit.export.secret_file')
  if (kind === 'webhook' && secretFile === null)
    throw refuse(
      'audit.export.to: webhook needs audit.export.secret_file',
      'Give a file with a whsec_ secret.',
    )
  return { kind, url, ca, cert, key, secretFile }
}

function assemble(read: Reader): Config {
  return {
    node: {
      id: read.text('node.id'),
      dataDir: read.text('node.data_dir'),
      blobDirectories: read.has('node.blob_directories')
        ? read.get<readonly string[]>('node.blob_directories')
        : [],
      zone: read.text('node.zone'),
      witnessDir: read.textOrNull('node.witness_dir'),
      sealMetadata: read.get<boolean>('node.seal_metadata'),
      raftThread: read.get<boolean>('node.raft_thread'),
      edgeThreads: read.number('node.edge_threads'),
      directIoFromBytes: read.number('node.direct_io_from'),
    },
    cluster: {
      id: read.text('cluster.id'),
      members: read.get<readonly Member[]>('cluster.members'),
      heartbeatMs: read.number('cluster.heartbeat'),
      electionTimeoutMs: read.number('cluster.election_timeout'),
      logKeepEntries: read.number('cluster.log_keep_entries'),
      logKeepBytes: read.number('cluster.log_keep_bytes'),
      logPinBytes: read.number('cluster.log_pin_bytes'),
      collectAfterMs: read.number('cluster.collect_after'),
      promoteAfterMs: read.number('cluster.promote_after'),
      clockSkewMaxMs: read.number('cluster.clock_skew_max'),
    },
    disk: {
      stopPlacing: diskThreshold(read, 'disk.stop_placing'),
      stopWriting: diskThreshold(read, 'disk.stop_writing'),
      reserve: diskThreshold(read, 'disk.reserve'),
    },
    repair: { scrubEveryMs: read.number('repair.scrub_every') },
    ...listening(read),
    security: security(read),
    content: {
      compression: read.text('content.compression') === 'auto' ? 'zstd' : 'none',
      sealingThreads: read.number('content.sealing_threads'),
    },
    backup: { directory: read.textOrNull('backup.directory') },
    audit: auditSettings(read),
    notifications: notifications(read),
    ...telemetry(read),
    ...bounds(read),
  }
}

function diskThreshold(
  read: Reader,
  name: 'disk.stop_placing' | 'disk.stop_writing' | 'disk.reserve',
): Config['disk']['reserve'] {
  return { usedShare: read.number(name) / 100, freeBytes: read.number(`${name}_free`) }
}

function checkElection({ cluster: { heartbeatMs, electionTimeoutMs } }: Config): void {
  if (electionTimeoutMs >= 10 * heartbeatMs) return
  throw refuse(
    `cluster.election_timeout (${electionTimeoutMs} ms) is less than ten heartbeats (${heartbeatMs} ms each)`,
    'Raise it: otherwise a single late packet starts an election.',
  )
}

function checkContentOrigin(config: Config): void {
  const { contentOrigin } = config.listeners
  const dataUrl = dataUrlOf(config)
  if (contentOrigin === null || URL.parse(dataUrl)?.host !== new URL(contentOrigin).host) return
  throw refuse(
    `listeners.content_origin (${contentOrigin}) is the host at which clients reach the API, ${dataUrl}`,
    'Give it a host of its own, such as https://content.example.org, that leads to listeners.data as well.',
  )
}

function checkProxies({ listeners: { trustedProxies, proxyProtocol } }: Config): void {
  if (!proxyProtocol || trustedProxies.length > 0) return
  throw refuse(
    'listeners.proxy_protocol is true and listeners.trusted_proxies is empty',
    'Name the addresses of the proxies: their headers are the only ones that are believed.',
  )
}

const crossChecks = (config: Config): readonly (() => void)[] => [
  () => checkElection(config),
  () => checkDisk(config.disk),
  () => checkBlobDirectories(config.node),
  () => checkListeners(config.listeners),
  () => checkProxies(config),
  () => checkContentOrigin(config),
]

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) freeze(inner)
    Object.freeze(value)
  }
  return value
}

/** Runs every step. A FaultError becomes a fault of the file, and the other steps still run. */
function gatherFaults(file: string, steps: readonly (() => void)[]): readonly ConfigFault[] {
  return steps.flatMap((step) => {
    try {
      step()
      return []
    } catch (cause) {
      if (!(cause instanceof FaultError)) throw cause
      return [configFault({ setting: null, where: file, message: cause.message, hint: cause.hint })]
    }
  })
}

/** In the order of the lines; faults without a line come last. */
function inOrder(faults: readonly ConfigFault[]): readonly ConfigFault[] {
  const lineOf = ({ where }: ConfigFault): number => Number(/:(\d+)$/.exec(where)?.[1] ?? Infinity)
  return faults.toSorted((a, b) => (lineOf(a) === lineOf(b) ? 0 : lineOf(a) - lineOf(b)))
}

/** Never throws because of the contents: everything that is wrong is in `faults`. */
export function examineConfig(file: string, environment: Environment): Examined {
  const settings: readonly Setting[] = SETTINGS
  const known = settings.map(({ name }) => name)
  const lists = settings
    .filter(({ kind }) => ['members', 'origins', 'roleRules'].includes(kind))
    .map(({ name }) => name)
  const inFile = readConfigFile(file, known)
  const inEnvironment = readEnvironment(environment, known, lists)
  const written = new Map([...inFile.settings, ...inEnvironment.settings])
  const { values, faults: ofValues } = parseSettings(written, { file, folder: dirname(resolve(file)) })
  // If the file was not read completely, its settings only seem to be missing.
  const reported = inFile.isUnderstood
    ? ofValues
    : ofValues.filter(({ setting }) => written.has(setting ?? ''))
  const faults = inOrder([...inFile.faults, ...reported, ...inEnvironment.faults])
  if (faults.length > 0) return { config: null, faults, written, values }
  let config: Config | null = null
  const assembled = gatherFaults(file, [() => (config = assemble(new Reader(values)))])
  const crossed = config === null ? [] : gatherFaults(file, crossChecks(config))
  if (assembled.length + crossed.length > 0)
    return { config: null, faults: [...assembled, ...crossed], written, values }
  return { config: freeze(config), faults, written, values }
}

/** Throws StartError `invalid_config` with all faults. */
export function loadConfig(file: string, environment: Environment): Config {
  const { config, faults } = examineConfig(file, environment)
  const [first, ...others] = faults
  if (first !== undefined) throw invalidConfig(file, [first, ...others])
  if (config === null) throw new Error('A configuration without faults is assembled')
  return config
}
