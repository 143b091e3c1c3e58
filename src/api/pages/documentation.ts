/**
 * Answers for the files of the documentation, from the archive that the package contains.
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
import { smallPage } from './small-page.ts'

/** Beside the bundle, or where a checkout has it. */
const PLACES = ['../docs/site.pack', '../../../dist/docs/site.pack']
/** No file is nearly as large; one that claims more is damaged. */
const FILE_BYTES_MAX = 16 * 1024 * 1024
/** Such a name changes with the bytes. */
const IS_FOREVER = /\.[0-9a-f]{12}\.\w+$/

/** Nothing from elsewhere, no script or style in a page, no page in a frame. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
/** A diagram has its colours inside. As an image it can load and run nothing, and opened by itself neither. */
const IMAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

/** Throws when there is none, or none that can be read. */
type Load = () => Promise<SiteArchive>

export class Documentation {
  readonly #load: Load
  #archive: Promise<SiteArchive> | null = null

  constructor(load: Load = loadArchive) {
    this.#load = load
  }

  /** `path`: as it was sent, below the root of the site and without a query. */
  async answerTo(path: string, headers: IncomingHttpHeaders): Promise<Answer> {
    const archive = await this.#opened()
    if (archive === null) return NOT_BUILT
    const name = path === '' || path.endsWith('/') ? `${path}index.html` : path
    const file = archive.get(name)
    return file === undefined ? NO_SUCH_PAGE : fileAnswer(name, file, headers)
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

async function loadArchive(): Promise<SiteArchive> {
  const files = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url)))
  const file = files.find((candidate) => existsSync(candidate)) ?? files[0] ?? ''
  return new SiteArchive(await readFile(file))
}

async function fileAnswer(name: string, file: PackedFile, headers: IncomingHttpHeaders): Promise<Answer> {
  const { type, tag, zipped } = file
  const isZipped = takesCoding(headers['accept-encoding'], 'gzip')
  const etag = isZipped ? `"${tag}-gzip"` : `"${tag}"`
  const common = {
    etag,
    vary: 'Accept-Encoding',
    'cache-control': IS_FOREVER.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
    'content-security-policy': type === 'image/svg+xml' ? IMAGE_POLICY : PAGE_POLICY,
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
  }
  if (isHeld(headers['if-none-match'], etag)) return { kind: 'empty', status: 304, headers: common }
  if (isZipped)
    return {
      kind: 'ready',
      contentType: type,
      bytes: zipped,
      headers: { ...common, 'content-encoding': 'gzip' },
    }
  const bytes = await promisify(gunzip)(zipped, { maxOutputLength: FILE_BYTES_MAX })
  return { kind: 'ready', contentType: type, bytes, headers: common }
}

const NO_SUCH_PAGE: Answer = {
  ...smallPage(
    'No such page',
    '<p>The documentation has no such page. It begins at <a href="/docs/">/docs/</a>.</p>',
  ),
  status: 404,
}

const NOT_BUILT: Answer = {
  ...smallPage(
    'No documentation here',
    '<p>This build of Holdfast contains no documentation. Packages contain it; in a clone <code>npm run docs</code> makes it, and this node shows it from then on.</p>',
  ),
  status: 404,
}
