/**
 * The profiles of a user: addresses and credentials of services, each under a name, in one file below the configuration folder.
 *
 * Owns: where the file is and how it is written. Knows nothing of: which source of an address takes precedence.
 * Rules: the file has mode 0600 and is replaced as a whole; one that others can read is refused, because it has secrets.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, open, rename, unlink } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import { CommandError, EXIT } from './exit.ts'

export interface Profile {
  /** Addresses, separated by commas. */
  readonly endpoint: string
  readonly adminEndpoint?: string
  /** Absolute. */
  readonly caFile?: string
  readonly accessKeyId?: string
  readonly secretKey?: string
  readonly adminToken?: string
  readonly tenant?: string
}

export interface Profiles {
  readonly current: string | null
  readonly profiles: Readonly<Record<string, Profile>>
}

/** What is read around a command; another one in tests. */
export interface ConfigSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Null when the file does not exist. Throws when it cannot be read. */
  readonly read: (file: string) => string | null
  /** Whether users other than its owner may read the file. */
  readonly isOpenToOthers?: (file: string) => boolean
}

/** Null: this user has no home. [XDG Base Directory Specification] */
export function configFolder({ XDG_CONFIG_HOME, HOME }: ConfigSurroundings['env']): string | null {
  if (XDG_CONFIG_HOME !== undefined && isAbsolute(XDG_CONFIG_HOME)) return join(XDG_CONFIG_HOME, 'holdfast')
  return HOME !== undefined && isAbsolute(HOME) ? join(HOME, '.config', 'holdfast') : null
}

/** Throws CommandError when this user has no home. */
export function profilesFile(env: ConfigSurroundings['env']): string {
  const folder = configFolder(env)
  if (folder !== null) return join(folder, 'profiles.json')
  throw usage('There is no folder for profiles', 'Set HOME or XDG_CONFIG_HOME.')
}

/** Empty when there is no file. Throws CommandError. */
export function readProfiles({ env, read, isOpenToOthers }: ConfigSurroundings): Profiles {
  if (configFolder(env) === null) return { current: null, profiles: {} }
  const file = profilesFile(env)
  const text = read(file)
  if (text === null) return { current: null, profiles: {} }
  if (isOpenToOthers?.(file) === true)
    throw usage(`Other users can read '${file}', which has secrets`, `Close it with: chmod 600 ${file}`)
  try {
    const { current = null, profiles } = JSON.parse(text) as Partial<Profiles>
    if (typeof profiles === 'object' && profiles !== null) return { current, profiles }
  } catch {
    // The error below covers this case too.
  }
  throw usage(`'${file}' contains no profiles`, 'Remove it, and log in again with: holdfast login')
}

/** Null: there is none of that name. Names of the prototype are no profiles. */
export function profileNamed({ profiles }: Profiles, name: string): Profile | null {
  return Object.hasOwn(profiles, name) ? (profiles[name] ?? null) : null
}

export function unknownProfile(name: string, { profiles }: Profiles): CommandError {
  const names = Object.keys(profiles)
  return usage(
    `There is no profile '${name}'`,
    names.length === 0 ? 'Make one with: holdfast login' : `There are: ${names.join(', ')}.`,
  )
}

export function writeProfiles(env: ConfigSurroundings['env'], profiles: Profiles): Promise<void> {
  return writePrivately(profilesFile(env), `${JSON.stringify(profiles, null, 2)}\n`)
}

/** Replaces a file as a whole; only its owner may read it. */
export async function writePrivately(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const temporary = `${file}.${randomBytes(6).toString('hex')}`
  const handle = await open(temporary, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
    await handle.close()
    await rename(temporary, file)
  } catch (cause) {
    await handle.close().catch(() => {})
    await unlink(temporary).catch(() => {})
    throw cause
  }
}

function usage(message: string, hint: string): CommandError {
  return new CommandError(message, { code: 'invalid_argument', hint, exitCode: EXIT.usage })
}
