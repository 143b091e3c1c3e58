/**
 * `npm run release`: everything that a version is handed on as, in one folder.
 *
 * Owns: the order, and what is said about parts that were left out. Rules: a release is made of committed files only, under a version that the
 * changelog has a section for; nothing is published or pushed; the folder is new, so no file of another version is in it.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT, readLockedProject } from '../supply-chain/lockfile.ts'
import { copyCleanTree } from './clean-tree.ts'
import { releaseFaults } from './release-faults.ts'
import { type Part, writeRelease } from './write-release.ts'
import { readSigningKey } from './signing.ts'
import { run } from './tarball.ts'

const USAGE = `npm run release -- [--out DIR] [--key FILE] [--tag]

  --out DIR     a new folder for the files of the release (default dist/release/VERSION)
  --key FILE    an Ed25519 private key (PEM) that signs the checksums; without one they are not signed
  --tag         also makes the annotated tag vVERSION of HEAD
`

const say = (text: string): void => void process.stderr.write(`${text}\n`)

function report(parts: readonly Part[]): void {
  for (const part of parts)
    say('file' in part ? `made     ${part.file}` : `skipped  ${part.name}: ${part.skipped}`)
}

function makeTag(version: string): void {
  const tag = `v${version}`
  run(ROOT, 'git', 'tag', '--annotate', tag, '--message', `holdfast ${version}`)
  say(`tagged   ${tag}; publish it with: git push origin ${tag}`)
}

function main(): number {
  const { values } = parseArgs({
    options: {
      out: { type: 'string' },
      key: { type: 'string' },
      tag: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(USAGE)
    return 0
  }
  const { version } = readLockedProject()
  const out = resolve(values.out ?? join(ROOT, 'dist', 'release', version))
  const faults = releaseFaults(ROOT, version, { isTagged: values.tag })
  if (existsSync(out) && readdirSync(out).length > 0)
    faults.push(`'${out}' is not empty: name another with --out`)
  if (faults.length > 0) {
    for (const fault of faults) say(`error: ${fault}`)
    return 1
  }
  const key = values.key === undefined ? null : readSigningKey(values.key)
  mkdirSync(out, { recursive: true })
  const tree = mkdtempSync(join(tmpdir(), 'holdfast-release-'))
  try {
    copyCleanTree(ROOT, tree)
    const epoch = Number(run(ROOT, 'git', 'log', '-1', '--format=%ct'))
    report(writeRelease(tree, out, { key, hasProgram, epoch }))
  } finally {
    rmSync(tree, { recursive: true, force: true })
  }
  if (values.tag) makeTag(version)
  process.stdout.write(`${out}\n`)
  return 0
}

const hasProgram = (name: string): boolean => spawnSync(name, ['--version']).status === 0

process.exitCode = main()
