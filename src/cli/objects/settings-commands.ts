/**
 * `holdfast tag`, `retention` and `legal-hold`: what can be set on an object after it was stored.
 *
 * Rule: `tag set` keeps the tags that it does not name, by reading them first; the API replaces all of them.
 */
import type { DataClient } from '../../client/clients.ts'
import { askData } from '../base/asking.ts'
import type { DataAccessOptions } from '../base/cluster-access.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { note, printable, printFacts, printJson } from '../base/printing.ts'
import { objectPath } from './remote-path.ts'

export interface SettingOptions extends DataAccessOptions {
  readonly versionId?: string
  readonly json?: boolean
}

interface Named {
  readonly params: { readonly bucket: string; readonly key: string }
  readonly query: { readonly versionId?: string }
}

function named(path: string, { versionId }: SettingOptions): Named {
  return { params: objectPath(path), query: versionId === undefined ? {} : { versionId } }
}

type Tags = Readonly<Record<string, string>>

export function getTags(path: string, options: SettingOptions): Promise<number> {
  return askData(options, async (client) => shownTags(await tagsOf(client, named(path, options)), options))
}

export interface SetTagsOptions extends SettingOptions {
  readonly replace?: boolean
}

export function setTags(path: string, pairs: readonly string[], options: SetTagsOptions): Promise<number> {
  const wanted = tagsIn(pairs)
  const place = named(path, options)
  return askData(options, async (client) => {
    const earlier = options.replace ? {} : await tagsOf(client, place)
    const body = { tags: { ...earlier, ...wanted } }
    return shownTags((await client.call('setObjectTags', { ...place, body })).answer.tags, options)
  })
}

/** Without names: all of them. */
export function removeTags(path: string, names: readonly string[], options: SettingOptions): Promise<number> {
  const place = named(path, options)
  return askData(options, async (client) => {
    const earlier = names.length === 0 ? {} : await tagsOf(client, place)
    const rest = Object.fromEntries(Object.entries(earlier).filter(([name]) => !names.includes(name)))
    if (Object.keys(rest).length > 0) {
      const { answer } = await client.call('setObjectTags', { ...place, body: { tags: rest } })
      return shownTags(answer.tags, options)
    }
    await client.call('deleteObjectTags', place)
    return shownTags({}, options)
  })
}

async function tagsOf(client: DataClient, place: Named): Promise<Tags> {
  return (await client.call('getObjectTags', place)).answer.tags
}

function tagsIn(pairs: readonly string[]): Tags {
  const tags = pairs.map((pair) => {
    const at = pair.indexOf('=')
    if (at < 1)
      throw new CommandError(`'${pair}' is not a tag`, {
        code: 'invalid_argument',
        hint: 'Write name=value, such as project=alpha.',
        exitCode: EXIT.usage,
      })
    return [pair.slice(0, at), pair.slice(at + 1)] as const
  })
  return Object.fromEntries(tags)
}

function shownTags(tags: Tags, { json = false }: SettingOptions): number {
  if (json) printJson({ tags })
  else if (Object.keys(tags).length === 0) note('no tags')
  else printFacts(Object.fromEntries(Object.entries(tags).map(([name, value]) => [printable(name), value])))
  return EXIT.done
}

export function getRetention(path: string, options: SettingOptions): Promise<number> {
  return askData(options, async (client) => {
    const { answer } = await client.call('getObjectRetention', named(path, options))
    return shownFacts({ ...answer }, options)
  })
}

export interface SetRetentionOptions extends SettingOptions {
  readonly mode: 'GOVERNANCE' | 'COMPLIANCE'
  readonly until?: string
  /** Milliseconds from now. */
  readonly for?: number
}

export async function setRetention(path: string, options: SetRetentionOptions): Promise<number> {
  const body = { mode: options.mode, retainUntil: endOf(options) }
  return askData(options, async (client) => {
    const { answer } = await client.call('setObjectRetention', { ...named(path, options), body })
    return shownFacts({ ...answer }, options)
  })
}

/** A date alone is its beginning in UTC. */
function endOf({ until, for: ms }: SetRetentionOptions): string {
  if ((until === undefined) === (ms === undefined))
    throw new CommandError('Until when is the object retained?', {
      code: 'invalid_argument',
      hint: 'Give either --until TIME, such as 2030-01-01, or --for DURATION, such as 30d.',
      exitCode: EXIT.usage,
    })
  if (ms !== undefined) return new Date(Date.now() + ms).toISOString()
  return /^\d{4}-\d{2}-\d{2}$/.test(until ?? '') ? `${until}T00:00:00Z` : (until ?? '')
}

export function getLegalHold(path: string, options: SettingOptions): Promise<number> {
  return askData(options, async (client) => {
    const { answer } = await client.call('getObjectLegalHold', named(path, options))
    return shownFacts({ ...answer }, options)
  })
}

export function setLegalHold(path: string, state: string, options: SettingOptions): Promise<number> {
  const body = { status: state === 'on' ? ('ON' as const) : ('OFF' as const) }
  return askData(options, async (client) => {
    const { answer } = await client.call('setObjectLegalHold', { ...named(path, options), body })
    return shownFacts({ ...answer }, options)
  })
}

function shownFacts(facts: Readonly<Record<string, unknown>>, { json = false }: SettingOptions): number {
  if (json) printJson(facts)
  else printFacts(facts)
  return EXIT.done
}
