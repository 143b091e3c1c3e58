/**
 * `holdfast login`, `use`, `profiles` and `logout`.
 *
 * Rules: a profile is saved only after the service has accepted its credentials. No command prints a secret.
 */
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { resolve } from 'node:path'
import { askAdmin, askData } from '../base/asking.ts'
import { type ClusterFile, listed, SURROUNDINGS } from '../base/cluster-access.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { note, printable, printJson, printTable } from '../base/printing.ts'
import { type Profile, profileNamed, readProfiles, unknownProfile, writeProfiles } from '../base/profiles.ts'
import { tokenCache } from '../base/token-cache.ts'
import { answerTo } from './questions.ts'

export interface ProfileOptions {
  readonly json?: boolean
}

export interface LoginOptions extends ProfileOptions {
  readonly endpoint?: string
  readonly accessKeyId?: string
  readonly secretFile?: string
  readonly adminEndpoint?: string
  readonly tokenFile?: string
  readonly tenant?: string
  readonly caFile?: string
  readonly clusterFile?: string
}

export async function login(name: string, options: LoginOptions): Promise<number> {
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(name) || name === '__proto__')
    throw usage(`'${name}' cannot be the name of a profile`, 'Use 1 to 64 letters, digits, ".", "_" and "-".')
  // Refused before anything is asked, if others can read the file.
  const before = readProfiles(SURROUNDINGS)
  const profile = await profileFrom(options)
  await accepted(name, profile)
  const { profiles } = before
  await writeProfiles(process.env, { current: name, profiles: { ...profiles, [name]: profile } })
  if (options.json) printJson(shown(name, profile, name))
  else note(`Logged in: commands use the profile '${name}' (${profile.endpoint}) from now on.`)
  return EXIT.done
}

/** Options count before the environment, the environment before a cluster file; what is missing is asked. */
async function profileFrom(options: LoginOptions): Promise<Profile> {
  const { env } = process
  const local = options.clusterFile ? clusterIn(options.clusterFile) : null
  const urls = (of: 'dataUrl' | 'adminUrl') => local?.nodes.map((node) => node[of]).join(',')
  const endpoint = await needed(
    options.endpoint || env['HOLDFAST_ENDPOINT'] || urls('dataUrl'),
    'Address of the data API, such as https://store.example:9000: ',
    '--endpoint',
  )
  const accessKeyId = await needed(
    options.accessKeyId || env['HOLDFAST_ACCESS_KEY_ID'] || local?.accessKeyId,
    'Access key id: ',
    '--access-key-id',
  )
  const isOfFile = accessKeyId === local?.accessKeyId
  const secretKey = await needed(
    (await secretIn(options.secretFile)) ||
      env['HOLDFAST_SECRET_KEY'] ||
      (isOfFile ? local?.secretKey : undefined),
    'Secret key (not shown): ',
    '--secret-file',
  )
  const caFile = options.caFile || env['HOLDFAST_CA_FILE']
  const adminEndpoint = options.adminEndpoint || env['HOLDFAST_ADMIN_ENDPOINT'] || urls('adminUrl')
  const token = (await secretIn(options.tokenFile)) || env['HOLDFAST_ADMIN_TOKEN'] || local?.ownerToken
  const tenant = options.tenant || env['HOLDFAST_TENANT'] || local?.tenantId
  return {
    endpoint: listed(endpoint).join(','),
    accessKeyId,
    secretKey,
    ...(caFile ? { caFile: resolve(caFile) } : {}),
    ...(adminEndpoint ? { adminEndpoint: listed(adminEndpoint).join(',') } : {}),
    ...(adminEndpoint && token ? { adminToken: token } : {}),
    ...(tenant ? { tenant } : {}),
  }
}

async function needed(known: string | undefined, question: string, option: string): Promise<string> {
  const answer = known || (await answerTo(question, option === '--secret-file'))
  if (answer) return answer
  throw usage(
    `${option} is missing`,
    option === '--secret-file'
      ? 'Name a file with the secret, or - for standard input, or set HOLDFAST_SECRET_KEY; on a terminal it is asked.'
      : 'Give it, or run the command on a terminal, which asks.',
  )
}

async function secretIn(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined
  return (file === '-' ? await text(process.stdin) : readFileSync(file, 'utf8')).trim()
}

function clusterIn(file: string): ClusterFile {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ClusterFile
  } catch (cause) {
    throw usage(`'${file}' describes no local cluster`, 'Name the cluster.json that npm start wrote.', cause)
  }
}

/** Throws CommandError when the service refuses the key or the admin token. */
async function accepted(name: string, profile: Profile): Promise<void> {
  const around = { ...SURROUNDINGS, env: {} }
  const trial = {
    endpoint: profile.endpoint,
    ...(profile.caFile === undefined ? {} : { caFile: profile.caFile }),
  }
  const { accessKeyId = '', secretKey = '', adminEndpoint, adminToken } = profile
  await askData(
    trial,
    async (client) => {
      const { answer } = await client.call('createToken', {
        body: { accessKeyId, secretKey },
        isRepeatable: true,
      })
      note(`${printable(name)}: the key belongs to the tenant ${answer.tenantId}.`)
    },
    {},
    { ...around, env: { HOLDFAST_ACCESS_KEY_ID: accessKeyId, HOLDFAST_SECRET_KEY: secretKey } },
  )
  if (adminEndpoint === undefined || adminToken === undefined) return
  const { caFile } = trial
  await askAdmin(
    { adminEndpoint, ...(caFile === undefined ? {} : { caFile }) },
    async (client) => {
      await client.call('listTenants', { query: { limit: 1 } })
    },
    { ...around, env: { HOLDFAST_ADMIN_TOKEN: adminToken } },
  )
}

export async function use(name: string, options: ProfileOptions): Promise<number> {
  const all = readProfiles(SURROUNDINGS)
  const profile = profileNamed(all, name)
  if (profile === null) throw unknownProfile(name, all)
  await writeProfiles(process.env, { ...all, current: name })
  if (options.json) printJson(shown(name, profile, name))
  else note(`Commands use the profile '${name}' (${profile.endpoint}) from now on.`)
  return EXIT.done
}

export function listProfiles({ json = false }: ProfileOptions): number {
  const { current, profiles } = readProfiles(SURROUNDINGS)
  const all = Object.entries(profiles).map(([name, profile]) => shown(name, profile, current))
  if (json) for (const one of all) printJson(one)
  else if (all.length === 0) note('There are no profiles; make one with: holdfast login')
  else
    printTable(
      all.map(({ name, isUsed, endpoint, accessKeyId }) => [isUsed ? '*' : ' ', name, accessKeyId, endpoint]),
    )
  return EXIT.done
}

/** Without secrets. */
function shown(name: string, profile: Profile, current: string | null) {
  const { secretKey: _, adminToken, accessKeyId = '', ...rest } = profile
  return { name, isUsed: name === current, ...rest, accessKeyId, hasAdminToken: adminToken !== undefined }
}

export async function logout(named: string | undefined, { json = false }: ProfileOptions): Promise<number> {
  const all = readProfiles(SURROUNDINGS)
  const name = named ?? all.current
  if (name === null) throw usage('No profile is in use', 'Name one: holdfast logout NAME.')
  const profile = profileNamed(all, name)
  if (profile === null) throw unknownProfile(name, all)
  const { [name]: _, ...profiles } = all.profiles
  await writeProfiles(process.env, { profiles, current: all.current === name ? null : all.current })
  const { accessKeyId = '', secretKey = '', endpoint } = profile
  const cache = tokenCache({ endpoints: listed(endpoint), accessKeyId, secretKey })
  const minted = (await cache?.load()) ?? null
  if (minted !== null) await cache?.drop(minted.token)
  if (json) printJson({ name, removed: true })
  else note(`The profile '${name}' is removed.`)
  return EXIT.done
}

function usage(message: string, hint: string, cause?: unknown): CommandError {
  return new CommandError(message, { code: 'invalid_argument', hint, exitCode: EXIT.usage, cause })
}
