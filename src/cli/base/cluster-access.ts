/**
 * The addresses of the service and the credentials: from options, the environment, a profile, or the file that `npm start` writes.
 *
 * Owns: which source takes precedence. Knows nothing of: the requests.
 * Rules: a secret comes from a file or the environment, never from the command line, which other users can read. Secrets of a profile, and of
 * a cluster file that no option named, are sent only to the nodes that it names. A profile that an option names counts before the
 * environment, the profile in use after it.
 */
import { readFileSync, statSync } from 'node:fs'
import type { ClientOptions, DataCredentials } from '../../client/clients.ts'
import { CommandError, EXIT } from './exit.ts'
import {
  type ConfigSurroundings,
  type Profile,
  profileNamed,
  readProfiles,
  unknownProfile,
} from './profiles.ts'

interface SourceOptions {
  readonly caFile?: string
  readonly clusterFile?: string
  readonly profile?: string
}

export interface DataAccessOptions extends SourceOptions {
  readonly endpoint?: string
}

export interface AdminAccessOptions extends SourceOptions {
  readonly adminEndpoint?: string
  readonly tokenFile?: string
}

/** As scripts/local/cluster.ts writes it. */
export interface ClusterFile {
  readonly nodes: readonly { readonly dataUrl: string; readonly adminUrl: string }[]
  readonly ownerToken: string
  readonly tenantId: string
  readonly accessKeyId: string
  readonly secretKey: string
}

/** The sources besides the options. */
export type Surroundings = ConfigSurroundings

const DEFAULT_FILE = 'data/cluster.json'

export const SURROUNDINGS: Surroundings = {
  env: process.env,
  read: (file) => {
    try {
      return readFileSync(file, 'utf8')
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR') return null
      throw usage(
        `Cannot read '${file}': ${(cause as Error).message}`,
        'Give a file that this user may read.',
        cause,
      )
    }
  },
  isOpenToOthers: (file) => process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0,
}

/** What a profile or a cluster file knows. */
interface Stored {
  readonly profile: Profile
  readonly dataUrls: readonly string[]
  readonly adminUrls: readonly string[]
  /** A cluster file that an option names is trusted with any address; its secrets count before the environment. */
  readonly isNamedFile: boolean
}

interface Sources {
  readonly stored: Stored | null
  /** Empty where an option names a profile. */
  readonly env: Surroundings['env']
}

/** Throws CommandError when an address or a secret is missing. */
export function dataAccess(
  options: DataAccessOptions,
  surroundings: Surroundings = SURROUNDINGS,
): ClientOptions & DataCredentials {
  const { stored, env } = sourcesOf(options, surroundings)
  const known = stored?.dataUrls ?? []
  const given = options.endpoint || env['HOLDFAST_ENDPOINT']
  const endpoints = endpointsOf(given, known, '--endpoint or HOLDFAST_ENDPOINT')
  const place = { endpoints, ...trustOf({ options, surroundings, env }, endpoints, stored, known) }
  const secrets = stored !== null && mayServe(stored, endpoints, known) ? stored.profile : null
  const { accessKeyId, secretKey } = secrets ?? {}
  const ofStored = accessKeyId && secretKey ? { accessKeyId, secretKey } : null
  const ofEnvironment = credentialsIn(env)
  const credentials = stored?.isNamedFile ? (ofStored ?? ofEnvironment) : (ofEnvironment ?? ofStored)
  if (credentials !== null) return { ...place, ...credentials }
  throw usage(
    'No access key is configured',
    'Log in with holdfast login, set HOLDFAST_ACCESS_KEY_ID and HOLDFAST_SECRET_KEY, or HOLDFAST_TOKEN, or name the file of a local cluster with --cluster-file.',
  )
}

/** A token takes precedence over a key, which needs a request for a token first. Null: neither is set. */
function credentialsIn(env: Surroundings['env']): DataCredentials | null {
  const { HOLDFAST_TOKEN: token, HOLDFAST_ACCESS_KEY_ID: accessKeyId, HOLDFAST_SECRET_KEY: secretKey } = env
  if (token) return { token }
  return accessKeyId && secretKey ? { accessKeyId, secretKey } : null
}

/** Throws CommandError when an address or a token is missing. */
export function adminAccess(
  options: AdminAccessOptions,
  surroundings: Surroundings = SURROUNDINGS,
): ClientOptions & { readonly token: string } {
  const { stored, env } = sourcesOf(options, surroundings)
  const known = stored?.adminUrls ?? []
  const given = options.adminEndpoint || env['HOLDFAST_ADMIN_ENDPOINT']
  const endpoints = endpointsOf(given, known, '--admin-endpoint or HOLDFAST_ADMIN_ENDPOINT')
  const place = { endpoints, ...trustOf({ options, surroundings, env }, endpoints, stored, known) }
  return { ...place, token: adminToken(options.tokenFile, surroundings, stored, env, endpoints) }
}

/** The tenant of --tenant, the environment, or else that of the profile or cluster file. */
export function tenantOf(
  options: SourceOptions & { readonly tenant?: string },
  surroundings: Surroundings = SURROUNDINGS,
): string {
  if (options.tenant) return options.tenant
  const { stored, env } = sourcesOf(options, surroundings)
  const tenant = env['HOLDFAST_TENANT'] || stored?.profile.tenant
  if (tenant) return tenant
  throw usage('Which tenant?', 'Give --tenant ID, or set HOLDFAST_TENANT.')
}

function sourcesOf(options: SourceOptions, surroundings: Surroundings): Sources {
  const { env } = surroundings
  if (options.profile !== undefined) return { stored: ofProfile(options.profile, surroundings), env: {} }
  if (options.clusterFile) return { stored: ofClusterFile(options.clusterFile, surroundings), env }
  const name = env['HOLDFAST_PROFILE'] || readProfiles(surroundings).current
  const stored = name ? ofProfile(name, surroundings) : ofClusterFile(null, surroundings)
  return { stored, env }
}

/** Throws CommandError when there is none of that name. */
function ofProfile(name: string, surroundings: Surroundings): Stored {
  const all = readProfiles(surroundings)
  const profile = profileNamed(all, name)
  if (profile === null) throw unknownProfile(name, all)
  return {
    profile,
    dataUrls: listed(profile.endpoint),
    adminUrls: listed(profile.adminEndpoint ?? ''),
    isNamedFile: false,
  }
}

/** `named` null: the default file, which may be absent. */
function ofClusterFile(named: string | null, { read }: Surroundings): Stored | null {
  const path = named ?? DEFAULT_FILE
  const text = read(path)
  if (text === null && named === null) return null
  if (text === null)
    throw usage(`The file '${path}' does not exist`, 'Name the cluster.json of a local cluster.')
  try {
    const content = JSON.parse(text) as Partial<ClusterFile>
    if (Array.isArray(content.nodes) && typeof content.tenantId === 'string')
      return storedIn(content as ClusterFile, named !== null)
  } catch {
    // The error below covers this case too.
  }
  throw usage(`'${path}' describes no local cluster`, 'Name the cluster.json that npm start wrote.')
}

function storedIn(content: ClusterFile, isNamedFile: boolean): Stored {
  const { nodes, ownerToken: adminToken, tenantId: tenant, accessKeyId, secretKey } = content
  const dataUrls = nodes.map(({ dataUrl }) => dataUrl)
  const adminUrls = nodes.map(({ adminUrl }) => adminUrl)
  const profile = { endpoint: dataUrls.join(','), adminToken, tenant, accessKeyId, secretKey }
  return { profile, dataUrls, adminUrls, isNamedFile }
}

function mayServe(stored: Stored, endpoints: readonly string[], known: readonly string[]): boolean {
  return stored.isNamedFile || endpoints.every((endpoint) => known.includes(endpoint))
}

interface Around {
  readonly options: SourceOptions
  readonly surroundings: Surroundings
  readonly env: Surroundings['env']
}

function trustOf(
  { options, surroundings, env }: Around,
  ...[endpoints, stored, known]: readonly [readonly string[], Stored | null, readonly string[]]
): Pick<ClientOptions, 'ca' | 'clientCertificate'> {
  const shown = shownCertificate(surroundings)
  const ofStored = stored !== null && mayServe(stored, endpoints, known) ? stored.profile.caFile : undefined
  const file = options.caFile || env['HOLDFAST_CA_FILE'] || ofStored
  if (!file) return shown
  const ca = surroundings.read(file)
  if (ca?.includes('-----BEGIN CERTIFICATE-----')) return { ca, ...shown }
  throw usage(`'${file}' contains no certificate`, 'Name the ca.pem of the cluster with --ca-file.')
}

/** For nodes that ask clients for a certificate. */
function shownCertificate({ env, read }: Surroundings): Pick<ClientOptions, 'clientCertificate'> {
  const { HOLDFAST_CLIENT_CERT_FILE: certFile, HOLDFAST_CLIENT_KEY_FILE: keyFile } = env
  if (!certFile && !keyFile) return {}
  const cert = certFile ? read(certFile) : null
  const key = keyFile ? read(keyFile) : null
  if (cert !== null && key !== null) return { clientCertificate: { cert, key } }
  throw usage(
    'The client certificate and its key are not both there',
    'Name both files (PEM) in HOLDFAST_CLIENT_CERT_FILE and HOLDFAST_CLIENT_KEY_FILE, or none.',
  )
}

/** Without blanks and slashes at the ends. */
export function listed(urls: string): readonly string[] {
  return urls
    .split(',')
    .map((text) => text.trim().replace(/\/$/, ''))
    .filter((text) => text !== '')
}

function endpointsOf(given: string | undefined, known: readonly string[], how: string): readonly string[] {
  const endpoints = given ? listed(given) : known
  if (endpoints.length === 0)
    throw usage(
      'No endpoint is configured',
      `Log in with holdfast login, name nodes with ${how}, or run the command in the folder that contains ${DEFAULT_FILE} of a local cluster.`,
    )
  for (const endpoint of endpoints)
    if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol))
      throw usage(
        `'${endpoint}' is not the address of a node`,
        'Write it like https://store.example:9000; separate several with commas.',
      )
  return endpoints
}

function adminToken(
  tokenFile: string | undefined,
  { read }: Surroundings,
  ...[stored, env, endpoints]: readonly [Stored | null, Surroundings['env'], readonly string[]]
): string {
  const { HOLDFAST_ADMIN_TOKEN: fromEnvironment } = env
  const isFor = stored !== null && mayServe(stored, endpoints, stored.adminUrls)
  const ofStored = isFor ? stored.profile.adminToken : undefined
  const token =
    tokenFile !== undefined ? read(tokenFile) : stored?.isNamedFile ? ofStored : fromEnvironment || ofStored
  if (token !== undefined && token !== null && token.trim() !== '') return token.trim()
  throw new CommandError(
    tokenFile === undefined ? 'No admin token is configured' : `'${tokenFile}' contains no admin token`,
    {
      code: 'token_missing',
      hint: 'Set HOLDFAST_ADMIN_TOKEN, or name a file with a token with --token-file.',
      exitCode: EXIT.usage,
    },
  )
}

function usage(message: string, hint: string, cause?: unknown): CommandError {
  return new CommandError(message, { code: 'invalid_argument', hint, exitCode: EXIT.usage, cause })
}
