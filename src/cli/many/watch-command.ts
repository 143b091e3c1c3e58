/**
 * `holdfast watch`: lists a prefix again and again, and prints what came, changed and went.
 *
 * Rule: the last listing is a file in a temporary folder, in the order of the keys, so that two listings are laid side by side and
 * neither is in memory. What came and went between two listings is not seen; webhooks miss nothing.
 */
import { createReadStream } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import type { DataClient } from '../../client/clients.ts'
import { askData } from '../base/asking.ts'
import type { DataAccessOptions } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { interruption } from '../base/interruption.ts'
import { note, printable, printJson, printLine, sizeText } from '../base/printing.ts'
import { type RemotePath, remotePath } from '../objects/remote-path.ts'
import { type Entry, type Pair, sideBySide } from '../sync/entry.ts'
import { remoteEntries } from '../sync/remote-side.ts'
import { describesSame } from './diff-command.ts'

export interface WatchOptions extends DataAccessOptions {
  /** Milliseconds between the end of one listing and the beginning of the next. */
  readonly every: number
  /** So many listings after the first. */
  readonly count?: number
  readonly json?: boolean
}

export async function watch(path: string, options: WatchOptions): Promise<number> {
  const place = remotePath(path)
  const signal = interruption()
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-watch-'))
  try {
    await askData(options, async (client) => {
      let last = await listedTo(join(folder, '0'), remoteEntries(client, place))
      note(`Watching ${printable(path)}, every ${options.every / 1000} s; Ctrl-C ends it.`)
      for (let n = 1; n <= (options.count ?? Infinity) && !signal.aborted; n++) {
        await wait(options.every, undefined, { signal })
        last = await compared(client, place, { last, next: join(folder, `${n}`) }, options)
      }
    })
  } catch (cause) {
    // Ctrl-C is how it is meant to end.
    if (!signal.aborted) throw cause
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return EXIT.done
}

/** Prints the differences; resolves with the file of the new listing. */
async function compared(
  client: DataClient,
  place: RemotePath,
  { last, next }: { readonly last: string; readonly next: string },
  options: WatchOptions,
): Promise<string> {
  await listedTo(next, remoteEntries(client, place))
  for await (const pair of sideBySide(entriesIn(last), entriesIn(next))) print(pair, place, options)
  await rm(last)
  return next
}

function print(
  { path, source, target }: Pair,
  { bucket, key }: RemotePath,
  { json = false }: WatchOptions,
): void {
  if (source !== null && target !== null && describesSame(source, target)) return
  const what = source === null ? 'created' : target === null ? 'removed' : 'changed'
  const name = `${bucket}/${key}${path}`
  if (json) printJson({ event: what, bucket, key: key + path, size: target?.size ?? null })
  else printLine(`${what}  ${printable(name)}${target === null ? '' : `  ${sizeText(target.size)}`}`)
}

const WRITE_CHARS = 64 * 1024

async function listedTo(file: string, entries: AsyncIterable<Entry>): Promise<string> {
  const handle = await open(file, 'wx', 0o600)
  try {
    let text = ''
    for await (const entry of entries) {
      text += `${JSON.stringify(entry)}\n`
      if (text.length < WRITE_CHARS) continue
      await handle.writeFile(text)
      text = ''
    }
    await handle.writeFile(text)
  } finally {
    await handle.close()
  }
  return file
}

async function* entriesIn(file: string): AsyncGenerator<Entry> {
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity }))
    yield JSON.parse(line) as Entry
}
