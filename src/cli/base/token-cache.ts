/**
 * The tokens of access keys between commands, so that a loop of commands does not request one for each.
 *
 * Owns: the file beside the profiles. Rules: it has mode 0600 and is replaced as a whole; one that others can read counts as none. An
 * entry is found only by who has the secret key, ends before its token does, and never makes a command fail.
 */
import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Minted, TokenStore } from '../../client/clients.ts'
import { type ConfigSurroundings, configFolder, writePrivately } from './profiles.ts'

/** The oldest goes first. */
const TOKENS_MAX = 64
const VARIABLE = 'HOLDFAST_TOKEN_CACHE'

interface TokenOwner {
  readonly endpoints: readonly string[]
  readonly accessKeyId: string
  readonly secretKey: string
}

type Tokens = Readonly<Record<string, Minted>>

/** Null: there is no folder for it, or HOLDFAST_TOKEN_CACHE is `off`. */
export function tokenCache(
  owner: TokenOwner,
  env: ConfigSurroundings['env'] = process.env,
  now: () => number = Date.now,
): TokenStore | null {
  const folder = configFolder(env)
  if (folder === null || env[VARIABLE] === 'off') return null
  const file = join(folder, 'tokens.json')
  const name = nameOf(owner)
  const change = async (changed: (tokens: Tokens) => Tokens | null): Promise<void> => {
    const tokens = changed(tokensIn(file))
    if (tokens !== null)
      await writePrivately(file, `${JSON.stringify(stillGood(tokens, now()))}\n`).catch(() => {})
  }
  return {
    load: async () => tokensIn(file)[name] ?? null,
    save: (minted) =>
      change((tokens) => {
        const { [name]: _, ...others } = tokens
        return isMinted(minted) ? { ...others, [name]: minted } : null
      }),
    drop: (token) =>
      change((tokens) => {
        const { [name]: mine, ...others } = tokens
        return mine?.token === token ? others : null
      }),
  }
}

/** Nothing of the key can be read from it. */
function nameOf({ endpoints, accessKeyId, secretKey }: TokenOwner): string {
  const owner = JSON.stringify([endpoints.toSorted(), accessKeyId, secretKey])
  return createHash('sha256').update(owner).digest('base64url')
}

function tokensIn(file: string): Tokens {
  try {
    const { mode } = statSync(file)
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) return {}
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof value !== 'object' || value === null) return {}
    return Object.fromEntries(
      Object.entries(value).filter((entry): entry is [string, Minted] => isMinted(entry[1])),
    )
  } catch {
    // Not there or unreadable: the next token is requested.
    return {}
  }
}

function isMinted(value: unknown): value is Minted {
  const { token, renewAt } = { ...(typeof value === 'object' ? value : {}) } as Partial<Minted>
  return typeof token === 'string' && token !== '' && typeof renewAt === 'number' && Number.isFinite(renewAt)
}

function stillGood(tokens: Tokens, now: number): Tokens {
  return Object.fromEntries(
    Object.entries(tokens)
      .filter(([, { renewAt }]) => renewAt > now)
      .slice(-TOKENS_MAX),
  )
}
