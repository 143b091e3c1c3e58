/**
 * The files of a release: packages, bill of materials, licences, image, chart, checksums, signature.
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
import { debianArchitecture, makeDebianPackage } from './debian-package.ts'
import { checksumsOf, publicKeyOf, signatureOf } from './signing.ts'
import { makeTarball, run } from './tarball.ts'

export type Part = { readonly name: string; readonly skipped: string } | { readonly file: string }

const CHECKSUMS = 'SHA256SUMS'

interface Surroundings {
  /** Null: no signature. */
  readonly key: KeyObject | null
  readonly hasProgram: (name: string) => boolean
  /** Of what is released: the time of its commit. Seconds since 1970. */
  readonly epoch: number
}

/** `tree`: from copyCleanTree; `out`: an empty folder. Throws when a part that can be made fails. */
export function writeRelease(
  tree: string,
  out: string,
  { key, hasProgram, epoch }: Surroundings,
): readonly Part[] {
  const project = readLockedProject()
  const base = `${project.name}-${project.version}`
  const write = (name: string, content: string | Uint8Array): Part => {
    writeFileSync(join(out, name), content)
    return { file: name }
  }
  const tarball = makeTarball(tree, out)
  const parts: Part[] = [{ file: basename(tarball) }]
  parts.push(write(`${base}.cdx.json`, `${JSON.stringify(billOfMaterials(project), null, 2)}\n`))
  const texts = readFileSync(join(tree, 'dist', 'bundle', 'LICENCES.txt'), 'utf8')
  parts.push(write(`${base}.licences.txt`, licenceList(project, texts)))
  parts.push(
    image(tree, out, { tag: `${project.name}:${project.version}`, file: `${base}.image.tar.gz`, hasProgram }),
  )
  parts.push(debian({ tree, tarball, project, epoch }, out, hasProgram))
  parts.push(chart(tree, out, { file: `${base}.chart.tgz`, epoch }))
  const sums = checksumsOf(out, readdirSync(out))
  parts.push(write(CHECKSUMS, sums))
  if (key === null)
    return [...parts, { name: 'signature', skipped: 'no key was given; sign the checksums with --key FILE' }]
  parts.push(write(`${CHECKSUMS}.sig`, signatureOf(Buffer.from(sums), key)))
  return [...parts, write('release.pub', publicKeyOf(key))]
}

/** As `helm package` does, and the same bytes from the same files. helm takes it under any name. */
function chart(
  tree: string,
  out: string,
  { file, epoch }: { readonly file: string; readonly epoch: number },
): Part {
  const equal = [
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u=rwX,go=rX',
    `--mtime=@${epoch}`,
  ]
  const compressed = '--use-compress-program=gzip --no-name'
  run(
    tree,
    'tar',
    '--create',
    ...equal,
    compressed,
    '--directory=deploy/helm',
    `--file=${join(out, file)}`,
    'holdfast',
  )
  return { file }
}

interface Image {
  readonly tag: string
  readonly file: string
  readonly hasProgram: Surroundings['hasProgram']
}

/** In the format of Docker: that of OCI has no health check. */
function image(tree: string, out: string, { tag, file, hasProgram }: Image): Part {
  if (!hasProgram('podman')) return { name: 'image', skipped: 'podman is not installed' }
  const authority = process.env['NODE_EXTRA_CA_CERTS']
  const behindProxy =
    authority === undefined
      ? []
      : [
          '--volume',
          `${authority}:/tmp/extra-ca.pem:ro`,
          '--build-arg',
          'NODE_EXTRA_CA_CERTS=/tmp/extra-ca.pem',
        ]
  const build = ['--format', 'docker', '--network', 'host', ...behindProxy]
  run(tree, 'podman', 'build', ...build, '--file', 'deploy/Dockerfile', '--tag', tag, '.')
  const archive = join(out, file.replace(/\.gz$/, ''))
  run(tree, 'podman', 'save', '--format', 'docker-archive', '--output', archive, tag)
  run(tree, 'gzip', '--no-name', archive)
  return { file }
}

/** With the Node.js that runs this, which is the one of the lockfile. */
function debian(
  input: Pick<Parameters<typeof makeDebianPackage>[0], 'tree' | 'tarball' | 'project' | 'epoch'>,
  out: string,
  hasProgram: Surroundings['hasProgram'],
): Part {
  if (!hasProgram('dpkg-deb')) return { name: 'Debian package', skipped: 'dpkg-deb is not installed' }
  if (debianArchitecture() === null)
    return { name: 'Debian package', skipped: `none is made for ${process.arch}` }
  const all = { ...input, node: process.execPath, compression: 'xz' } as const
  return { file: makeDebianPackage(all, `${input.tree}.deb`, out) }
}
