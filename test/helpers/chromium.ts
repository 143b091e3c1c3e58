/**
 * Where a Chromium for tests comes from: the one of `HOLDFAST_CHROMIUM`, or the one in the package @sparticuz/chromium, which
 * brings the libraries that a bare Linux does not have.
 *
 * Owns: unpacking it into a folder of the test. The package would unpack itself under a name in the temporary folder that
 * another user may have created before; only its archives are used.
 */
import { execFile } from 'node:child_process'
import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createBrotliDecompress } from 'node:zlib'

export interface Chromium {
  readonly executable: string
  /** Folder of the libraries in the package. Empty: the browser is installed, and needs none. */
  readonly libraries: string
}

/** null: no browser for this machine, see `HOW_TO_HAVE_ONE`. `dir`: empty, and removed by the caller. */
export async function chromiumIn(dir: string): Promise<Chromium | null> {
  const installed = process.env['HOLDFAST_CHROMIUM']
  if (installed !== undefined) return { executable: installed, libraries: '' }
  if (process.platform !== 'linux' || process.arch !== 'x64') return null
  const executable = join(dir, 'chromium')
  await unpack('chromium.br', createWriteStream(executable, { mode: 0o700 }))
  const libraries = join(dir, 'libraries.tar')
  await unpack('al2023.tar.br', createWriteStream(libraries))
  await promisify(execFile)('tar', ['-x', '-f', libraries, '-C', dir])
  return { executable, libraries: join(dir, 'lib') }
}

export const HOW_TO_HAVE_ONE =
  'The package of Chromium is for Linux on x64: set HOLDFAST_CHROMIUM to the path of a Chromium or Chrome'

async function unpack(archive: string, target: NodeJS.WritableStream): Promise<void> {
  const packed = new URL(`../bin/${archive}`, import.meta.resolve('@sparticuz/chromium'))
  await pipeline(createReadStream(packed), createBrotliDecompress(), target)
}
