/**
 * The files of a release: package, bill of materials, licences, image, checksums, signature.
 *
 * Owns: their names. Rules: a part that this machine cannot make is named with the reason and never left out in silence; a part that it can make
 * and that fails ends the release; the checksums cover every file but themselves.
 */
import type { KeyObject } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readLockedProject } from '../supply-chain/lockfile.ts'
import { billOfMaterials } from '../supply-chain/sbom.ts'
import { licenceList } from './licence-list.ts'
import { checksumsOf, publicKeyOf, signatureOf } from './signing.ts'
import { makeTarball, run } from './tarball.ts'

export type Part = { readonly name: string; readonly skipped: string } | { readonly file: string }

const CHECKSUMS = 'SHA256SUMS'

interface Surroundings {
  /** Null: no signature. */
  readonly key: KeyObject | null
  readonly hasProgram: (name: string) => boolean
}

/** `tree`: from copyCleanTree; `out`: an empty folder. Throws when a part that can be made fails. */
export function writeRelease(tree: string, out: string, { key, hasProgram }: Surroundings): readonly Part[] {
  const project = readLockedProject()
  const base = `${project.name}-${project.version}`
  const write = (name: string, content: string | Uint8Array): Part => {
    writeFileSync(join(out, name), content)
    return { file: name }
  }
  const parts: Part[] = [{ file: basename(makeTarball(tree, out)) }]
  parts.push(write(`${base}.cdx.json`, `${JSON.stringify(billOfMaterials(project), null, 2)}\n`))
  const texts = readFileSync(join(tree, 'dist', 'bundle', 'LICENCES.txt'), 'utf8')
  parts.push(write(`${base}.licences.txt`, licenceList(project, texts)))
  parts.push(
    image(tree, out, { tag: `${project.name}:${project.version}`, file: `${base}.image.tar`, hasProgram }),
  )
  const sums = checksumsOf(out, readdirSync(out))
  parts.push(write(CHECKSUMS, sums))
  if (key === null)
    return [...parts, { name: 'signature', skipped: 'no key was given; sign the checksums with --key FILE' }]
  parts.push(write(`${CHECKSUMS}.sig`, signatureOf(Buffer.from(sums), key)))
  return [...parts, write('release.pub', publicKeyOf(key))]
}

interface Image {
  readonly tag: string
  readonly file: string
  readonly hasProgram: Surroundings['hasProgram']
}

function image(tree: string, out: string, { tag, file, hasProgram }: Image): Part {
  if (!hasProgram('podman')) return { name: 'image', skipped: 'podman is not installed' }
  run(tree, 'podman', 'build', '--file', 'deploy/Dockerfile', '--tag', tag, '.')
  run(tree, 'podman', 'save', '--format', 'oci-archive', '--output', join(out, file), tag)
  return { file }
}
