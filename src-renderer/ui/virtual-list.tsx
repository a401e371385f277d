import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useRef } from 'react';

/** Lists this short are drawn whole: nothing to gain, and find-in-page works. */
const wholeUpTo = 60;

interface VirtualListProps<Item> {
  readonly label: string;
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
  readonly renderRow: (item: Item, index: number) => ReactNode;
  /** Height of a usual row in pixels; true heights are measured. */
  readonly estimatePx: number;
  /** Index of the current row, kept in view; -1 for none. */
  readonly current: number;
  /** Called when the end comes near; undefined while there is nothing to load, or it is being loaded. */
  readonly onEnd?: (() => void) | undefined;
}

/** A list that draws only the rows in view of the nearest scrolling pane. */
export function VirtualList<Item>(props: VirtualListProps<Item>) {
  const { items, label, keyOf, renderRow, estimatePx, current, onEnd } = props;
  const listRef = useRef<HTMLUListElement>(null);
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => listRef.current?.closest('.mg-pane') ?? null,
    estimateSize: () => estimatePx,
    overscan: 8,
    initialRect: { width: 0, height: 800 },
  });
  useEffect(() => {
    if (current < 0) return;
    if (items.length > wholeUpTo) virtualizer.scrollToIndex(current, { align: 'auto' });
    else listRef.current?.children[current]?.scrollIntoView({ block: 'nearest' });
  }, [current, items.length, virtualizer]);
  const rows = virtualizer.getVirtualItems();
  const last = rows[rows.length - 1]?.index ?? 0;
  const canLoad = onEnd !== undefined;
  const load = useRef(onEnd);
  useEffect(() => {
    load.current = onEnd;
  });
  useEffect(() => {
    if (canLoad && items.length > 0 && last >= items.length - 10) load.current?.();
  }, [last, items.length, canLoad]);
  if (items.length === 0) return null;

  if (items.length <= wholeUpTo) {
    return (
      <ul ref={listRef} className="mg-list" aria-label={label}>
        {items.map((item, index) => (
          <li key={keyOf(item)}>{renderRow(item, index)}</li>
        ))}
      </ul>
    );
  }
  return (
    <ul
      ref={listRef}
      className="mg-list"
      aria-label={label}
      style={{ height: virtualizer.getTotalSize(), position: 'relative' }}
    >
      {rows.map((row) => {
        const item = items[row.index];
        return item === undefined ? null : (
          <li
            key={keyOf(item)}
            ref={virtualizer.measureElement}
            data-index={row.index}
            aria-setsize={items.length}
            aria-posinset={row.index + 1}
            style={{ position: 'absolute', insetInline: 0, top: 0, transform: `translateY(${row.start}px)` }}
          >
            {renderRow(item, row.index)}
          </li>
        );
      })}
    </ul>
  );
}
