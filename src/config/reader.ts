/**
 * Typed access to the parsed values; their kinds were checked when they were parsed.
 */
import type { Values } from './parse-settings.ts'
import type { SettingName } from './settings.ts'

export class Reader {
  readonly #values: Values
  constructor(values: Values) {
    this.#values = values
  }
  text(name: SettingName): string {
    return String(this.#values.get(name))
  }
  /** Null: it has no value. */
  textOrNull(name: SettingName): string | null {
    return this.has(name) ? this.text(name) : null
  }
  number(name: SettingName): number {
    return Number(this.#values.get(name))
  }
  has(name: SettingName): boolean {
    return this.#values.has(name)
  }
  get<T>(name: SettingName): T {
    return this.#values.get(name) as T
  }
}
