/**
 * The Debian package: program, Node.js, unit, user and folders, so that one command makes a machine ready to be configured.
 *
 * Owns: where files are installed. Rules: nothing is fetched at installation; data, keys and configurations are never removed, not even by a purge;
 * equal inputs give equal bytes (owners, modes and times are set).
 */
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { LockedProject } from '../supply-chain/lockfile.ts'
import { copyInstalledPackages } from '../build/installed-packages.ts'
import { run } from './tarball.ts'

/** Names of Debian for those of Node.js. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }
const HOME = 'usr/lib/holdfast'

interface DebianInput {
  /** From copyCleanTree, built. */
  readonly tree: string
  /** The npm package. */
  readonly tarball: string
  readonly project: LockedProject
  /** A Node.js of this machine, which goes into the package. */
  readonly node: string
  /** `none` is for trials. */
  readonly compression: 'xz' | 'none'
  /** Times in the package. Seconds since 1970. */
  readonly epoch: number
}

/** Null: this machine has an architecture that no package is made for. */
export function debianArchitecture(): string | null {
  return ARCHITECTURES[process.arch] ?? null
}

/** As dpkg orders versions: a version before a release sorts before it. */
export const debianVersion = (version: string): string => version.replace('-', '~')

/** Returns the name of the file in `out`. `staging`: a folder that is made and removed. */
export function makeDebianPackage(input: DebianInput, staging: string, out: string): string {
  const { project, compression, epoch } = input
  const architecture = debianArchitecture() ?? process.arch
  const version = debianVersion(project.version)
  const file = `${project.name}_${version}_${architecture}.deb`
  try {
    installFiles(input, staging)
    installControl(input, staging, { architecture, version })
    const args = ['--root-owner-group', `-Z${compression}`, '--build', staging, join(out, file)]
    run(input.tree, 'env', `SOURCE_DATE_EPOCH=${epoch}`, 'dpkg-deb', ...args)
    return file
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

function installFiles({ tree, tarball, project, node }: DebianInput, staging: string): void {
  const home = join(staging, HOME)
  mkdirSync(join(home, 'bin'), { recursive: true })
  run(tree, 'tar', '--extract', '--file', tarball, '--directory', home, '--strip-components=1')
  copyInstalledPackages(project, tree, home)
  copyFile(node, join(home, 'bin', 'node'), 0o755)
  const debian = join(tree, 'deploy', 'debian')
  copyFile(join(debian, 'holdfast'), join(staging, 'usr/bin/holdfast'), 0o755)
  copyFile(join(debian, 'default'), join(staging, 'etc/default/holdfast'), 0o644)
  copyFile(
    join(tree, 'deploy/holdfast.service'),
    join(staging, 'usr/lib/systemd/system/holdfast.service'),
    0o644,
  )
  const texts = readFileSync(join(home, 'dist/bundle/LICENCES.txt'), 'utf8')
  const copyright = `${readFileSync(join(tree, 'LICENSE'), 'utf8')}\n${NODE_LICENCE}\n${texts}`
  writeWith(join(staging, 'usr/share/doc/holdfast/copyright'), copyright, 0o644)
  copyFile(join(debian, 'node.yaml'), join(staging, 'usr/share/doc/holdfast/examples/node.yaml'), 0o644)
}

const NODE_LICENCE = `${'-'.repeat(80)}

Node.js, in /usr/lib/holdfast/bin/node, is licensed under the MIT licence; it and the licences of what it contains are at
https://github.com/nodejs/node/blob/main/LICENSE

${'-'.repeat(80)}
`

function installControl(
  { tree }: DebianInput,
  staging: string,
  { architecture, version }: { readonly architecture: string; readonly version: string },
): void {
  const folder = join(staging, 'DEBIAN')
  const debian = join(tree, 'deploy', 'debian')
  const values = { VERSION: version, ARCHITECTURE: architecture, SIZE: String(installedKibibytes(staging)) }
  const control = readFileSync(join(debian, 'control'), 'utf8').replace(
    /@([A-Z]+)@/g,
    (_, name: keyof typeof values) => values[name],
  )
  writeWith(join(folder, 'control'), control, 0o644)
  writeWith(join(folder, 'conffiles'), '/etc/default/holdfast\n', 0o644)
  for (const script of ['preinst', 'postinst', 'prerm', 'postrm'])
    copyFile(join(debian, script), join(folder, script), 0o755)
  // Folders made above have the mask of this process.
  run(tree, 'chmod', '--recursive', 'u=rwX,go=rX', staging)
}

/** Whole KiB for each file and one for each folder, as dpkg-gencontrol counts: what a folder takes depends on the file system. */
function installedKibibytes(staging: string): number {
  const paths = readdirSync(staging, { recursive: true, encoding: 'utf8' })
  const sizes = paths.map((path) => lstatSync(join(staging, path)))
  return sizes.reduce((sum, one) => sum + (one.isDirectory() ? 1 : Math.ceil(one.size / 1024)), 0)
}

function copyFile(from: string, to: string, mode: number): void {
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to, { dereference: true })
  chmodSync(to, mode)
}

function writeWith(file: string, text: string, mode: number): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  chmodSync(file, mode)
}
