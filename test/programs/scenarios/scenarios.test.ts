/**
 * Every scenario file prints exactly its expected output.
 *
 * HOLDFAST_REWRITE=1 or --rewrite writes the present output into the files; the difference is then reviewed like code.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import t from 'tap'
import { assertTraces, formatScenario, parseScenario } from './scenario-file.ts'
import { playScenario } from './scenario.ts'

const FOLDER = import.meta.dirname
const REWRITES = process.env['HOLDFAST_REWRITE'] === '1' || process.argv.includes('--rewrite')

const paths = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
  .filter((file) => file.isFile() && file.name.endsWith('.txt'))
  .map((file) => relative(FOLDER, join(file.parentPath, file.name)))
  .toSorted()

t.ok(paths.length >= 60, `there are ${paths.length} scenarios`)

for (const path of paths) {
  t.test(path, async (t) => {
    const text = readFileSync(join(FOLDER, path), 'utf8')
    const file = parseScenario(path, text)
    const traces = playScenario(file)
    if (REWRITES) {
      writeFileSync(join(FOLDER, path), formatScenario(file, traces))
      return
    }
    assertTraces(file)
    t.equal(formatScenario(file, traces), text, `${path} prints its expected output`)
  })
}
