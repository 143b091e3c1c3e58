/**
 * Decides which test files run one after the other in one process, so that they load the modules that they share once.
 *
 * Owns: the rule and the groups. Knows nothing of: the disk, processes. Rules: a file is alone when it, or anything that it imports, touches what belongs to
 * the whole process, such as its environment, its signals, its exit code, its memory or other processes; the same sources give the same groups.
 */
import type { SourceFile } from './tidy-rules.ts'
import { importsOf, resolveImport } from './tidy-rules.ts'

/** What one file would change for the next one, or measure of the others. */
const OF_THE_PROCESS: readonly RegExp[] = [
  /\bprocess\.(on|once|off|emit|exit|exitCode|abort|kill|chdir|umask|setuid|title|stdin)\b/,
  /\bprocess\.(memoryUsage|cpuUsage|resourceUsage|getActiveResourcesInfo|execArgv|argv)\b/,
  /\bprocess\.env(\.\w+|\[[^\]]+\])\s*(\?\?)?=[^=]|\bdelete process\.env/,
  /\b(globalThis|Date|Math|performance|console|Buffer)(\.\w+)+\s*=[^=>]/,
  /\b(setGlobalDispatcher|registerHooks|syncBuiltinESMExports|setFlagsFromString)\b/,
  /'node:(child_process|cluster|v8|vm|inspector|async_hooks|perf_hooks|diagnostics_channel)'/,
  /\bmock(Import|Require)?\(/,
  // Their folders are named after the program of the process.
  /\b(testdir|fixture|matchSnapshot)\(/,
]
/** Programs and processes of their own; what is long already gains nothing. */
const ALONE = /^test\/(programs|process|s3-clients|house|deploy|bench)\//
/** A file that asks for more time than others. */
const LONG = 'test/programs/simulator/time-limit.ts'
/** So that a group is not the last one to end, and a crash takes few files along. */
const FILES_MAX = 24

/** Each group: paths of test files, at least one. `sources`: all sources of the repository. */
export function groupsOf(
  files: readonly string[],
  sources: readonly SourceFile[],
): readonly (readonly string[])[] {
  const obstacleTo = obstaclesIn(sources)
  const groups: string[][] = []
  const open = new Map<string, string[]>()
  for (const file of files.toSorted()) {
    if (obstacleTo(file) !== null) {
      groups.push([file])
      continue
    }
    const folder = file.split('/').slice(0, 2).join('/')
    let group = open.get(folder)
    if (group === undefined || group.length >= FILES_MAX) {
      group = []
      open.set(folder, group)
      groups.push(group)
    }
    group.push(file)
  }
  return groups
}

/** What keeps a file alone: the path that it loads and that touches the process. Null: it may share its process with others. */
export function obstaclesIn(sources: readonly SourceFile[]): (file: string) => string | null {
  const texts = new Map(sources.map(({ path, text }) => [path, text]))
  const modules = new Map<string, Module>()
  const moduleAt = (path: string): Module => {
    const known = modules.get(path)
    if (known !== undefined) return known
    const read = readModule({ path, text: texts.get(path) ?? '' })
    modules.set(path, read)
    return read
  }
  return (file) => {
    if (!texts.has(file) || ALONE.test(file)) return file
    const loaded = new Set([file])
    for (const path of loaded) {
      const { touches, loads } = moduleAt(path)
      if (touches) return path
      for (const next of loads) loaded.add(next)
    }
    return null
  }
}

interface Module {
  readonly touches: boolean
  readonly loads: readonly string[]
}

/** Imports of types load nothing. */
function readModule({ path, text }: SourceFile): Module {
  const code = text
    .replace(/^\s*\/\*[\s\S]*?\*\//gm, '')
    .replace(/(^|\s)\/\/.*$/gm, '$1')
    .replace(/^(import|export) type [^'"]*? from\s+'[^']+'/gm, '')
  const late = [...code.matchAll(/\bimport\('(\.[^'\n]+)'\)/g)].map(([, specifier = '']) => specifier)
  const relative = [...importsOf(code), ...late].filter((specifier) => specifier.startsWith('.'))
  // Only a test file gets the subtest of its group in the place of tap, and only through tap its output is known for its own.
  const isForeign = path.endsWith('.test.ts') !== /^import t\b.* from 'tap'$/m.test(code)
  return {
    touches: path === LONG || isForeign || OF_THE_PROCESS.some((pattern) => pattern.test(code)),
    loads: relative.map((specifier) => resolveImport(path, specifier)),
  }
}
