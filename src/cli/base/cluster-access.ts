/**
 * The addresses of the service and the credentials: from options, the environment, or the file that `holdfast up` writes.
 *
 * Owns: which source takes precedence. Knows nothing of: the requests.
 * Rules: a secret comes from a file or the environment, never from the command line, which other users can read. Secrets of a cluster
 * file that no option named are sent only to the nodes of that file.
 */
import { readFileSync } from 'node:fs'
import type { ClientOptions, DataCredentials } from '../../client/clients.ts'
import { CommandError, EXIT } from './exit.ts'

export interface DataAccessOptions {
  readonly endpoint?: string
  readonly caFile?: string
  readonly clusterFile?: string
}

export interface AdminAccessOptions {
  readonly adminEndpoint?: string
  readonly caFile?: string
  readonly tokenFile?: string
  readonly clusterFile?: string
}

/** As src/cli/up/up-command.ts writes it. */
export interface ClusterFile {
  readonly nodes: readonly { readonly dataUrl: string; readonly adminUrl: string }[]
  readonly ownerToken: string
  readonly tenantId: string
  readonly accessKeyId: string
  readonly secretKey: string
}

/** The sources besides the options. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Null when the file does not exist. Throws when it cannot be read. */
  readonly read: (file: string) => string | null
}

const DEFAULT_FILE = 'data/cluster.json'

const SURROUNDINGS: Surroundings = {
  env: process.env,
  read: (file) => {
    try {
      return readFileSync(file, 'utf8')
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw usage(
        `Cannot read '${file}': ${(cause as Error).message}`,
        'Give a file that this user may read.',
        cause,
      )
    }
  },
}

/** Throws CommandError when an address or a secret is missing. */
export function dataAccess(
  options: DataAccessOptions,
  surroundings: Surroundings = SURROUNDINGS,
): ClientOptions & DataCredentials {
  const file = clusterFile(options.clusterFile, surroundings)
  const known = file?.content.nodes.map(({ dataUrl }) => dataUrl) ?? []
  const endpoints = endpointsOf(options.endpoint, known, '--endpoint or HOLDFAST_ENDPOINT')
  const place = { endpoints, ...trustOf(options.caFile, surroundings) }
  const ofCluster = file !== null && mayServe(file, endpoints, known) ? file : null
  const own = ofEnvironment(surroundings)
  if (ofCluster !== null && (ofCluster.isNamed || own === null)) {
    const { accessKeyId, secretKey } = ofCluster.content
    return { ...place, accessKeyId, secretKey }
  }
  if (own !== null) return { ...place, ...own }
  throw usage(
    'No access key is configured',
    'Set HOLDFAST_ACCESS_KEY_ID and HOLDFAST_SECRET_KEY, or HOLDFAST_TOKEN, or name the file of a local cluster with --cluster-file.',
  )
}

/** A token takes precedence over a key, which needs a request for a token first. Null: neither is set. */
function ofEnvironment({ env }: Surroundings): DataCredentials | null {
  const { HOLDFAST_TOKEN: token, HOLDFAST_ACCESS_KEY_ID: accessKeyId, HOLDFAST_SECRET_KEY: secretKey } = env
  if (token) return { token }
  return accessKeyId && secretKey ? { accessKeyId, secretKey } : null
}

/** Throws CommandError when an address or a token is missing. */
export function adminAccess(
  options: AdminAccessOptions,
  surroundings: Surroundings = SURROUNDINGS,
): ClientOptions & { readonly token: string } {
  const file = clusterFile(options.clusterFile, surroundings)
  const known = file?.content.nodes.map(({ adminUrl }) => adminUrl) ?? []
  const endpoints = endpointsOf(options.adminEndpoint, known, '--admin-endpoint or HOLDFAST_ADMIN_ENDPOINT')
  const token = adminToken(options.tokenFile, surroundings, file, known, endpoints)
  return { endpoints, ...trustOf(options.caFile, surroundings), token }
}

function trustOf(
  file: string | undefined,
  surroundings: Surroundings,
): Pick<ClientOptions, 'ca' | 'clientCertificate'> {
  const shown = shownCertificate(surroundings)
  if (file === undefined) return shown
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

/** The tenant of --tenant, or else that of the cluster file. */
export function tenantOf(
  options: { readonly tenant?: string; readonly clusterFile?: string },
  surroundings: Surroundings = SURROUNDINGS,
): string {
  const tenant = options.tenant ?? clusterFile(options.clusterFile, surroundings)?.content.tenantId
  if (tenant !== undefined && tenant !== '') return tenant
  throw usage('Which tenant?', 'Give --tenant ID, or set HOLDFAST_TENANT.')
}

interface FoundFile {
  readonly content: ClusterFile
  /** The caller named the file; it is not the default file. */
  readonly isNamed: boolean
}

function clusterFile(named: string | undefined, { read }: Surroundings): FoundFile | null {
  const path = named ?? DEFAULT_FILE
  const text = read(path)
  if (text === null && named === undefined) return null
  if (text === null)
    throw usage(`The file '${path}' does not exist`, 'Name the cluster.json of a local cluster.')
  try {
    const content = JSON.parse(text) as Partial<ClusterFile>
    if (Array.isArray(content.nodes) && typeof content.tenantId === 'string')
      return { content: content as ClusterFile, isNamed: named !== undefined }
  } catch {
    // The error below covers this case too.
  }
  throw usage(`'${path}' describes no local cluster`, 'Name the cluster.json that holdfast up wrote.')
}

function mayServe(file: FoundFile, endpoints: readonly string[], known: readonly string[]): boolean {
  return file.isNamed || endpoints.every((endpoint) => known.includes(endpoint))
}

function endpointsOf(given: string | undefined, known: readonly string[], how: string): readonly string[] {
  const endpoints =
    given === undefined ? known : given.split(',').map((text) => text.trim().replace(/\/$/, ''))
  if (endpoints.length === 0)
    throw usage(
      'No endpoint is configured',
      `Name nodes with ${how}, or run the command in the folder that contains ${DEFAULT_FILE} of a local cluster.`,
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
  { env, read }: Surroundings,
  ...[file, known, endpoints]: readonly [FoundFile | null, readonly string[], readonly string[]]
): string {
  const { HOLDFAST_ADMIN_TOKEN: fromEnvironment } = env
  const ofCluster = file !== null && mayServe(file, endpoints, known) ? file : null
  const token =
    tokenFile !== undefined
      ? read(tokenFile)
      : ofCluster?.isNamed
        ? ofCluster.content.ownerToken
        : fromEnvironment || ofCluster?.content.ownerToken
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
