import { Button } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import { Component, type ReactNode } from 'react';

interface BoundaryProps {
  /** Another place is another screen: what stopped one does not stop the next. */
  readonly place: string;
  readonly children: ReactNode;
}

interface BoundaryState {
  readonly stoppedAt: string | null;
}

/** Keeps a screen that cannot be drawn from taking the rest of the desk with it. */
export class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { stoppedAt: null };

  override componentDidCatch(): void {
    this.setState({ stoppedAt: this.props.place });
  }

  static getDerivedStateFromError(): Partial<BoundaryState> {
    return { stoppedAt: '' };
  }

  static getDerivedStateFromProps({ place }: BoundaryProps, { stoppedAt }: BoundaryState): BoundaryState | null {
    return stoppedAt === null || stoppedAt === '' || stoppedAt === place ? null : { stoppedAt: null };
  }

  override render(): ReactNode {
    if (this.state.stoppedAt === null) return this.props.children;
    return (
      <div className="mg-state" role="alert">
        <span className="mg-state-icon" data-tone="removed">
          <TriangleAlert size={22} aria-hidden />
        </span>
        <h2>This screen could not be drawn</h2>
        <p>Nothing of your memory is touched by that. The other screens go on.</p>
        <Button variant="default" size="xs" onClick={() => this.setState({ stoppedAt: null })}>
          Try again
        </Button>
      </div>
    );
  }
}
