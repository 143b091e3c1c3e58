/**
 * Copies the packages that stay beside the bundle, as one machine needs them.
 *
 * Rule: only files that a node loads on this platform are copied: no sources, no compiler input, no binaries of other platforms.
 */
import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { LockedProject } from '../supply-chain/lockfile.ts'

/** What only a compiler or a reader needs. */
const UNUSED = /\/(deps|src|test|types|build)$|\.(cc|gyp|md|map)$|\.d\.ts$/

/** From the `node_modules` of `tree` to that of `home`. */
export function copyInstalledPackages(project: LockedProject, tree: string, home: string): void {
  // The lockfile names those of other platforms too.
  for (const { path, isInstalled } of project.packages)
    if (isInstalled && existsSync(join(tree, path))) copyPackage(join(tree, path), join(home, path))
}

function copyPackage(from: string, to: string): void {
  const otherPlatform = new RegExp(`/prebuilds/(?!linux-${process.arch}$)[^/]+$|\\.musl\\.node$`)
  cpSync(from, to, {
    recursive: true,
    dereference: true,
    filter: (path) => !UNUSED.test(path) && !otherPlatform.test(path) && !path.endsWith('/node_modules'),
  })
}
