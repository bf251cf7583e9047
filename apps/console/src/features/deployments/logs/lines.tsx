import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useLayoutEffect, useMemo, useRef } from 'react';
import { Text } from '../../../ui/parts';
import { spans } from './ansi';
import type { LogLine } from './log-lines';
import css from './logs.module.css';
import { withoutTime } from './own-time';

const LINE_PX = 24;
const NEAR_PX = 400;

interface LinesProps {
  readonly lines: readonly LogLine[];
  readonly before: number;
  readonly older: boolean;
  readonly more: () => Promise<void>;
  readonly follow: boolean;
  readonly onFollow: (follow: boolean) => void;
  readonly wrap: boolean;
  readonly local: boolean;
  readonly marked?: string;
  /** Makes a link to a line. */
  readonly onMark?: (id: string) => void;
}

/** Lines of a log, of which those in view are laid out. */
export function Lines({ lines, before, older, more, follow, onFollow, wrap, local, marked, onMark }: LinesProps) {
  const viewport = useRef<HTMLDivElement>(null);
  const top = useRef(0);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => viewport.current,
    estimateSize: () => LINE_PX,
    getItemKey: (index) => lines[index]!.id,
    overscan: 20,
  });
  const newest = lines.at(-1)!.id;

  useLayoutEffect(() => {
    if (follow) virtual.scrollToIndex(lines.length - 1, { align: 'end' });
  }, [follow, newest, wrap]);
  // What is looked at stays where it is when older lines come before it.
  const had = useRef(before);
  useLayoutEffect(() => {
    const added = before - had.current;
    had.current = before;
    if (added > 0) virtual.scrollToOffset((viewport.current?.scrollTop ?? 0) + added * LINE_PX);
  }, [before]);
  useEffect(() => {
    const at = lines.findIndex(({ id }) => id === marked);
    if (at >= 0 && !follow) virtual.scrollToIndex(at, { align: 'center' });
  }, []);

  const onScroll = () => {
    const { scrollTop, scrollHeight, clientHeight } = viewport.current!;
    const up = scrollTop < top.current;
    top.current = scrollTop;
    const atEnd = scrollHeight - scrollTop - clientHeight < LINE_PX;
    if (up && follow && !atEnd) onFollow(false);
    else if (!up && !follow && atEnd && marked === undefined) onFollow(true);
    if (older && scrollTop < NEAR_PX) void more();
  };
  return (
    <div
      ref={viewport}
      className={css.viewport}
      role="log"
      aria-label="Log"
      aria-live={follow ? 'polite' : 'off'}
      tabIndex={0}
      onScroll={onScroll}
    >
      <div className={css.sizer} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ key, index, start }) => (
          <div
            key={key}
            ref={wrap ? virtual.measureElement : undefined}
            data-index={index}
            className={wrap ? css.wrapped : css.place}
            style={{ transform: `translateY(${start}px)` }}
          >
            <Line line={lines[index]!} local={local} marked={lines[index]!.id === marked} onMark={onMark} />
          </div>
        ))}
      </div>
    </div>
  );
}

interface LineProps {
  readonly line: LogLine;
  readonly local: boolean;
  readonly marked: boolean;
  readonly onMark?: (id: string) => void;
}

const Line = memo(function Line({ line: { id, timestamp, level, message }, local, marked, onMark }: LineProps) {
  const parts = useMemo(() => spans(withoutTime(message)), [message]);
  return (
    <div className={css.line} data-marked={marked} data-level={level}>
      {onMark ? (
        <button type="button" title={`${timestamp}: link to this line`} onClick={() => onMark(id)}>
          {clock(timestamp, local)}
        </button>
      ) : (
        <time title={timestamp}>{clock(timestamp, local)}</time>
      )}
      <span className={css.level}>{level === 'INFO' ? '' : level}</span>
      <span className={css.message}>
        {parts.map(({ text, bold, dim, colour }, at) => (
          <span
            key={at}
            className={[bold && css.bold, dim && css.dim, colour !== undefined && css[`c${colour}`]]
              .filter(Boolean)
              .join(' ')}
          >
            <Text>{text}</Text>
          </span>
        ))}
      </span>
    </div>
  );
}, isSameLine);

/** `onMark` is made anew with each page of lines and does the same. */
function isSameLine(one: LineProps, other: LineProps): boolean {
  return one.line === other.line && one.local === other.local && one.marked === other.marked;
}

function clock(timestamp: string, local: boolean): string {
  if (!local) return timestamp.slice(11, 23);
  const time = new Date(timestamp);
  return `${time.toLocaleTimeString('en-GB')}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}
