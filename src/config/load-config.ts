/**
 * From a YAML file and the environment to one frozen Config.
 *
 * Owns: reading, the unknown-key check, overrides (HOLDFAST_SECTION__KEY), cross-checks. Knows nothing of who uses it.
 * Rule: nothing is guessed. An unknown key, a wrong unit or a missing value refuses the start and says what to write.
 */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseDocument } from 'yaml'
import { type Member, StartError } from '../../cluster/index.ts'
import { nearestName } from './nearest.ts'
import { parseAddress, parseOrigins, parseScalar, ValueError } from './parse-value.ts'
import { SETTINGS, type Setting, type SettingName } from './settings.ts'
import type { Config } from './types.ts'

export type Environment = Readonly<Record<string, string | undefined>>

const ENVIRONMENT_PREFIX = 'HOLDFAST_'
const FILE_BYTES_MAX = 1024 * 1024
const MEMBERS_MAX = 99

const refuse = (message: string, hint: string, cause?: unknown): StartError =>
  new StartError('invalid_config', message, { hint, ...(cause === undefined ? {} : { cause }) })

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function readYaml(file: string): unknown {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw refuse(`Cannot read the configuration '${file}'`, 'Give an existing file with --config.', cause)
  }
  if (text.length > FILE_BYTES_MAX)
    throw refuse(`Cannot read the configuration '${file}': it is larger than 1 MiB`, 'Is it the right file?')
  const document = parseDocument(text, { uniqueKeys: true })
  const problem = document.errors[0]
  if (problem)
    throw refuse(
      `Cannot read the configuration '${file}': ${problem.message.split('\n')[0]}`,
      'Mend the YAML at that place.',
    )
  return document.toJS({ maxAliasCount: 0 })
}

/** `{security: {max_presign_ttl: '7d'}}` -> `security.max_presign_ttl` -> '7d'; refuses names that no setting has. */
function flatten(tree: unknown, file: string): Map<string, unknown> {
  const flat = new Map<string, unknown>()
  const known = SETTINGS.map(({ name }) => name as string)
  if (tree === null || tree === undefined) return flat
  if (!isPlainObject(tree))
    throw refuse(
      `Cannot read the configuration '${file}': expected sections, got a ${typeof tree}`,
      'See docs/configuration.md.',
    )
  for (const [section, values] of Object.entries(tree)) {
    const inside = isPlainObject(values) ? Object.entries(values) : [[null, values] as const]
    for (const [key, value] of inside) {
      const name = key === null ? section : `${section}.${key}`
      if (!known.includes(name)) throw unknownName(name, known, `in '${file}'`)
      flat.set(name, value)
    }
  }
  return flat
}

function unknownName(name: string, known: readonly string[], where: string): StartError {
  const near = nearestName(name, known)
  return refuse(
    `Unknown setting '${name}' ${where}`,
    near ? `Did you mean '${near}'?` : 'See docs/configuration.md for all settings.',
  )
}

const environmentName = (setting: string): string =>
  ENVIRONMENT_PREFIX + setting.toUpperCase().replace('.', '__')

function applyEnvironment(flat: Map<string, unknown>, environment: Environment): void {
  const byName = new Map(SETTINGS.map(({ name }) => [environmentName(name), name]))
  for (const [variable, value] of Object.entries(environment)) {
    // A single underscore is somebody else's variable (HOLDFAST_HOME); a section always has two.
    if (!variable.startsWith(ENVIRONMENT_PREFIX) || !variable.includes('__') || value === undefined) continue
    const name = byName.get(variable)
    if (!name) throw unknownName(variable, [...byName.keys()], 'in the environment')
    flat.set(name, name === 'cluster.members' ? parseDocument(value).toJS() : value)
  }
}

function parseMember(entry: unknown, position: number): Member {
  const where = `member ${position + 1} of cluster.members`
  if (!isPlainObject(entry)) throw new ValueError(`${where}: expected {id, peer, zone, weight}`)
  const unknown = Object.keys(entry).find((key) => !['id', 'peer', 'zone', 'weight'].includes(key))
  if (unknown) throw new ValueError(`${where}: unknown field '${unknown}', expected id, peer, zone, weight`)
  const { id, peer, zone = 'default', weight = 1 } = entry
  if (typeof id !== 'string' || typeof peer !== 'string' || typeof zone !== 'string')
    throw new ValueError(`${where}: id, peer and zone are texts`)
  if (typeof weight !== 'number' || !(weight > 0 && weight <= 1000))
    throw new ValueError(`${where}: weight is a number above 0 and at most 1000`)
  return { nodeId: id, peerAddress: parseAddress(peer), zone, weight }
}

function parseMembers(value: unknown): readonly Member[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MEMBERS_MAX)
    throw new ValueError(`expected a list of 1 to ${MEMBERS_MAX} members`)
  const members = value.map(parseMember)
  for (const field of ['nodeId', 'peerAddress'] as const) {
    const values = members.map((member) => member[field])
    const twice = values.find((item, index) => values.indexOf(item) !== index)
    if (twice !== undefined) throw new ValueError(`'${twice}' stands there twice`)
  }
  return members
}

function parseSetting(setting: Setting, value: unknown, folder: string): unknown {
  if (setting.kind === 'members') return parseMembers(value)
  if (setting.kind === 'origins') return parseOrigins(value)
  if (typeof value === 'object' && value !== null)
    throw new ValueError('expected one value, got a list or a section')
  const text = String(value)
  return setting.kind === 'path'
    ? resolve(folder, String(parseScalar(setting, text)))
    : parseScalar(setting, text)
}

type Values = Map<SettingName, unknown>

function parseAll(flat: ReadonlyMap<string, unknown>, file: string): Values {
  const values: Values = new Map()
  for (const setting of SETTINGS as readonly (Setting & { name: SettingName })[]) {
    const given = flat.get(setting.name) ?? setting.fallback
    if (given === null) {
      if (setting.optional) continue
      throw refuse(`The setting '${setting.name}' is missing in '${file}'`, `It is ${setting.meaning}.`)
    }
    try {
      values.set(setting.name, parseSetting(setting, given, dirname(resolve(file))))
    } catch (cause) {
      if (!(cause instanceof ValueError)) throw cause
      throw refuse(`The setting '${setting.name}' is wrong: ${cause.message}`, `It is ${setting.meaning}.`)
    }
  }
  return values
}

/** Typed access to the parsed values; the kinds were checked when they were parsed. */
class Reader {
  readonly #values: Values
  constructor(values: Values) {
    this.#values = values
  }
  text(name: SettingName): string {
    return String(this.#values.get(name))
  }
  number(name: SettingName): number {
    return Number(this.#values.get(name))
  }
  has(name: SettingName): boolean {
    return this.#values.has(name)
  }
  get<T>(name: SettingName): T {
    return this.#values.get(name) as T
  }
}

function peerTls(read: Reader): Config['peerTls'] {
  const given = (['peer_tls.ca', 'peer_tls.cert', 'peer_tls.key'] as const).filter((name) => read.has(name))
  if (given.length === 0) return null
  if (given.length < 3)
    throw refuse(`peer_tls needs ca, cert and key, got only ${given.join(', ')}`, 'Give all three or none.')
  return { ca: read.text('peer_tls.ca'), cert: read.text('peer_tls.cert'), key: read.text('peer_tls.key') }
}

function assemble(read: Reader): Config {
  return {
    node: { id: read.text('node.id'), dataDir: read.text('node.data_dir'), zone: read.text('node.zone') },
    cluster: {
      id: read.text('cluster.id'),
      members: read.get<readonly Member[]>('cluster.members'),
      heartbeatMs: read.number('cluster.heartbeat'),
      electionTimeoutMs: read.number('cluster.election_timeout'),
      logKeepEntries: read.number('cluster.log_keep_entries'),
      logKeepBytes: read.number('cluster.log_keep_bytes'),
      collectAfterMs: read.number('cluster.collect_after'),
    },
    disk: {
      stopPlacing: read.number('disk.stop_placing') / 100,
      stopWriting: read.number('disk.stop_writing') / 100,
      reserve: read.number('disk.reserve') / 100,
    },
    repair: { scrubEveryMs: read.number('repair.scrub_every') },
    listeners: {
      data: read.text('listeners.data'),
      admin: read.text('listeners.admin'),
      peer: read.text('listeners.peer'),
      publicUrl: read.has('listeners.public_url') ? read.text('listeners.public_url') : null,
    },
    peerTls: peerTls(read),
    security: {
      masterKeyFile: read.text('security.master_key_file'),
      nativeApiTokenTtlMs: read.number('security.native_api_token_ttl'),
      maxPresignTtlMs: read.number('security.max_presign_ttl'),
    },
    content: {
      compression: read.text('content.compression') === 'auto' ? 'zstd' : 'none',
      sealingThreads: read.number('content.sealing_threads'),
    },
    audit: {
      keepMs: read.number('audit.keep'),
      strict: read.get<boolean>('audit.strict'),
      spoolBytesMax: read.number('audit.spool_bytes'),
    },
    notifications: {
      allowHttp: read.get<boolean>('notifications.allow_http'),
      allowOrigins: read.get<readonly string[]>('notifications.allow_origins'),
    },
    metrics: { public: read.get<boolean>('metrics.public') },
    logging: { level: read.get<Config['logging']['level']>('logging.level') },
    limits: {
      inlineBytesMax: read.number('limits.inline_bytes'),
      objectPutBytesMax: read.number('limits.object_put_bytes'),
      multipartExpiresAfterMs: read.number('limits.multipart_expires_after'),
      bucketsPerTenantMax: read.number('limits.buckets_per_tenant'),
      tokenMintPerMinute: read.number('limits.token_mint_per_minute'),
      tokenMintBurst: read.number('limits.token_mint_burst'),
      adminRequestsPerMinute: read.number('limits.admin_requests_per_minute'),
      adminRequestsBurst: read.number('limits.admin_requests_burst'),
      chunkBuffersMax: read.number('limits.chunk_buffers'),
    },
  }
}

/** As it was written: three digits are taken behind the point. */
const percentOf = (share: number): string => `${Math.round(share * 100_000) / 1000}%`

function checkDisk({ stopPlacing, stopWriting, reserve }: Config['disk']): void {
  const inOrder = [
    ['disk.stop_placing', stopPlacing],
    ['disk.stop_writing', stopWriting],
    ['disk.reserve', reserve],
  ] as const
  inOrder.forEach(([name, share], n) => {
    const next = inOrder[n + 1]
    if (next === undefined || share <= next[1]) return
    throw refuse(
      `${name} (${percentOf(share)}) is above ${next[0]} (${percentOf(next[1])})`,
      `A disk that fills up passes ${inOrder.map(([each]) => each).join(', ')} in this order.`,
    )
  })
}

function crossCheck(config: Config): void {
  const { heartbeatMs, electionTimeoutMs } = config.cluster
  if (electionTimeoutMs < 10 * heartbeatMs) {
    throw refuse(
      `cluster.election_timeout (${electionTimeoutMs} ms) is less than ten heartbeats (${heartbeatMs} ms each)`,
      'A single late packet would start an election: raise it.',
    )
  }
  checkDisk(config.disk)
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) freeze(inner)
    Object.freeze(value)
  }
  return value
}

/** Throws StartError `invalid_config`. */
export function loadConfig(file: string, environment: Environment): Config {
  const flat = flatten(readYaml(file), file)
  applyEnvironment(flat, environment)
  const config = assemble(new Reader(parseAll(flat, file)))
  crossCheck(config)
  return freeze(config)
}
