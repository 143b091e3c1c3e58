/** How many items one page of a listing may hold: 1 to 1000, 1000 unless asked for fewer. [decisions 4] */
const PAGE_SIZE_MAX = 1000

export const clampPageSize = (asked: number | undefined): number =>
  Math.min(Math.max(asked ?? PAGE_SIZE_MAX, 1), PAGE_SIZE_MAX)
