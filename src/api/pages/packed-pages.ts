/**
 * Answers for the files of a site that the package contains as one archive.
 *
 * Rules: the archive is read at the first request, so a node without one does not hold it; what is missing in it is answered by a page
 * that says so; each form of a file has an entity tag of its own.
 */
import { readFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { isHeld, takesCoding } from '../ready-document.ts'
import type { Answer } from '../route.ts'
import { type PackedFile, SiteArchive } from './site-archive.ts'

/** No file is nearly as large; one that claims more is damaged. */
const FILE_BYTES_MAX = 16 * 1024 * 1024
/** Such a name changes with the bytes. */
const IS_FOREVER = /\.[0-9a-f]{12}\.\w+$/

/** A diagram has its colours inside. As an image it can load and run nothing, and opened by itself neither. */
const IMAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

/** Throws when there is none, or none that can be read. */
export type LoadSite = () => Promise<SiteArchive>

export interface SiteFacts {
  /** Content-Security-Policy of everything but images. */
  readonly policy: string
  /** What is answered for a path that the site does not have, and where there is no site. */
  readonly noSuchPage: Answer
  readonly notBuilt: Answer
}

export class PackedPages {
  readonly #load: LoadSite
  readonly #facts: SiteFacts
  #archive: Promise<SiteArchive> | null = null

  constructor(load: LoadSite, facts: SiteFacts) {
    this.#load = load
    this.#facts = facts
  }

  /** `path`: as it was sent, below the root of the site and without a query. */
  async answerTo(path: string, headers: IncomingHttpHeaders): Promise<Answer> {
    const archive = await this.#opened()
    if (archive === null) return this.#facts.notBuilt
    const name = path === '' || path.endsWith('/') ? `${path}index.html` : path
    const file = archive.get(name)
    return file === undefined ? this.#facts.noSuchPage : fileAnswer(name, file, headers, this.#facts.policy)
  }

  /** null: this build has none. It may be built while the node runs, so that is asked each time. */
  async #opened(): Promise<SiteArchive | null> {
    this.#archive ??= this.#load()
    try {
      return await this.#archive
    } catch (error) {
      this.#archive = null
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw error
    }
  }
}

/** `places`: of the archive, relative to the bundle or to the sources of this folder; the first one that exists is read. */
export function siteAt(places: readonly string[]): LoadSite {
  return async () => {
    const files = places.map((place) => fileURLToPath(new URL(place, import.meta.url)))
    const file = files.find((candidate) => existsSync(candidate)) ?? files[0] ?? ''
    return new SiteArchive(await readFile(file))
  }
}

async function fileAnswer(
  name: string,
  file: PackedFile,
  headers: IncomingHttpHeaders,
  policy: string,
): Promise<Answer> {
  const { type, tag } = file
  const [coding, bytes] = formFor(file, headers['accept-encoding'])
  const etag = coding === null ? `"${tag}"` : `"${tag}-${coding}"`
  const common = {
    etag,
    vary: 'Accept-Encoding',
    'cache-control': IS_FOREVER.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
    'content-security-policy': type === 'image/svg+xml' ? IMAGE_POLICY : policy,
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
  }
  if (isHeld(headers['if-none-match'], etag)) return { kind: 'empty', status: 304, headers: common }
  if (coding !== null)
    return { kind: 'ready', contentType: type, bytes, headers: { ...common, 'content-encoding': coding } }
  const plain = await promisify(gunzip)(bytes, { maxOutputLength: FILE_BYTES_MAX })
  return { kind: 'ready', contentType: type, bytes: plain, headers: common }
}

/** The coding to send, null for none, and the bytes of it; without a coding those of gzip. */
function formFor(
  { zipped, brotli }: PackedFile,
  accepted: IncomingHttpHeaders['accept-encoding'],
): readonly [coding: 'br' | 'gzip' | null, bytes: Buffer] {
  if (brotli !== null && takesCoding(accepted, 'br')) return ['br', brotli]
  return [takesCoding(accepted, 'gzip') ? 'gzip' : null, zipped]
}
