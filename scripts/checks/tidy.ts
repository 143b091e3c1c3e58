/**
 * Fence 3: runs the rules of tidy-rules.ts over all files that git tracks or would track.
 *
 * Owns: reading files and the exit code. Prints one line for each finding.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkGuide } from './guide-pages.ts'
import { repositoryFiles } from './repository-files.ts'
import { checkFolders, checkRepository, checkSource, type SourceFile } from './tidy-rules.ts'

const ROOT = join(import.meta.dirname, '..', '..')

const read = (path: string): SourceFile => ({ path, text: readFileSync(join(ROOT, path), 'utf8') })

function main(): number {
  const files = repositoryFiles(ROOT)
  const sources = files
    .filter((path) => /^(cluster|packages|src|test|scripts)\/.*\.(tsx?|mjs)$/.test(path))
    .map(read)
  const prose = files
    .filter(
      (path) => /\.(md|ya?ml|json|sh)$|Dockerfile|\.ci\/run$/.test(path) && path !== 'package-lock.json',
    )
    .map(read)
  const manifest: { dependencies?: Record<string, string>; bundled?: readonly string[] } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  )
  const findings = [
    ...sources.flatMap(checkSource),
    ...checkFolders(sources),
    ...checkGuide(prose),
    ...checkRepository({
      lockfile: readFileSync(join(ROOT, 'package-lock.json'), 'utf8'),
      dependencies: [...Object.keys(manifest.dependencies ?? {}), ...(manifest.bundled ?? [])],
      decisions: files
        .filter((path) => path.startsWith('docs/adr/'))
        .map((path) => read(path).text)
        .join('\n'),
      texts: [...sources, ...prose],
    }),
  ]
  for (const { path, message } of findings) process.stderr.write(`${path} ${message}\n`)
  process.stderr.write(`tidy: ${sources.length} source files, ${findings.length} findings\n`)
  return findings.length === 0 ? 0 : 1
}

process.exitCode = main()
