/**
 * A site as one file: every page and asset, compressed, found by its path. The documentation is one, the console another.
 *
 * Owns: the layout. The first line is JSON, `{"format":"holdfast-site 1","files":[[path, type, tag, length], ...]}`; behind it stand the bytes of
 * the files in that order, each compressed by gzip, `length` bytes long. `tag` names the bytes before compression. A row with a fifth member has the
 * file once more, compressed by Brotli and so long, directly behind the first form. Knows nothing of: HTTP.
 * Rule: a path is looked up as it is, in a map, and never given to the file system: what is not listed is not there.
 */
import { createHash } from 'node:crypto'
import { brotliCompressSync, gzipSync } from 'node:zlib'

const FORMAT = 'holdfast-site 1'
const LINE_END = 0x0a

export interface SiteFile {
  /** Media type. */
  readonly type: string
  readonly bytes: Buffer
}

type Row = readonly [path: string, type: string, tag: string, length: number, brotliLength?: number]

export interface PackedFile {
  readonly type: string
  /** Changes with the bytes. */
  readonly tag: string
  readonly zipped: Buffer
  /** null: the site was packed without this form. */
  readonly brotli: Buffer | null
}

/** The file of a site. `files`: by path, without a slash before it. Equal files give equal bytes. */
export function packSite(
  files: ReadonlyMap<string, SiteFile>,
  { withBrotli = false }: { readonly withBrotli?: boolean } = {},
): Buffer {
  const rows: Row[] = []
  const parts: Buffer[] = []
  for (const [path, { type, bytes }] of files) {
    const zipped = gzipSync(bytes, { level: 9 })
    const tag = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
    if (withBrotli) {
      const brotli = brotliCompressSync(bytes)
      rows.push([path, type, tag, zipped.length, brotli.length])
      parts.push(zipped, brotli)
      continue
    }
    rows.push([path, type, tag, zipped.length])
    parts.push(zipped)
  }
  return Buffer.concat([Buffer.from(`${JSON.stringify({ format: FORMAT, files: rows })}\n`), ...parts])
}

export class SiteArchive {
  readonly #files = new Map<string, PackedFile>()

  /** Throws when this is no site of this version. */
  constructor(bytes: Buffer) {
    const end = bytes.indexOf(LINE_END)
    const head = JSON.parse(bytes.toString('utf8', 0, end)) as { format?: unknown; files?: readonly Row[] }
    if (head.format !== FORMAT || head.files === undefined)
      throw new Error(`The site has the format ${JSON.stringify(head.format)}, not "${FORMAT}"`)
    let at = end + 1
    const take = (length: number): Buffer => bytes.subarray(at, (at += length))
    for (const [path, type, tag, length, brotliLength] of head.files) {
      const zipped = take(length)
      this.#files.set(path, {
        type,
        tag,
        zipped,
        brotli: brotliLength === undefined ? null : take(brotliLength),
      })
    }
    if (at !== bytes.length) throw new Error('The site is cut off, or longer than it says')
  }

  /** Without a slash before it. Undefined: there is none. */
  get(path: string): PackedFile | undefined {
    return this.#files.get(path)
  }

  get paths(): readonly string[] {
    return [...this.#files.keys()]
  }
}
