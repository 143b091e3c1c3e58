/**
 * Every setting of a node: its name in the file, its meaning, unit, bounds and default. Each number appears only here.
 *
 * Owns: the table of the loader and of the reference page; its rows are in `settings/`, in the order of the page. Rule: names that
 * the contract defines keep their spelling.
 */
import type { Setting } from './settings/setting.ts'
import { CALLER_SETTINGS } from './settings/callers.ts'
import { CONSOLE_SETTINGS } from './settings/console.ts'
import { KEY_PROVIDER_SETTINGS } from './settings/key-providers.ts'
import { LIMIT_SETTINGS } from './settings/limits.ts'
import { LISTENER_SETTINGS } from './settings/listeners.ts'
import { MACHINE_SETTINGS } from './settings/machine.ts'
import { SECURITY_SETTINGS } from './settings/security.ts'
import { SERVICE_SETTINGS } from './settings/service.ts'

export const SETTINGS = [
  ...MACHINE_SETTINGS,
  ...LISTENER_SETTINGS,
  ...CONSOLE_SETTINGS,
  ...SECURITY_SETTINGS,
  ...KEY_PROVIDER_SETTINGS,
  ...SERVICE_SETTINGS,
  ...LIMIT_SETTINGS,
  ...CALLER_SETTINGS,
] as const satisfies readonly Setting[]

export type SettingName = (typeof SETTINGS)[number]['name']
